package decode

import "gprof/stream"

// Resolver names the functions at an offset in a module, for places that no
// recording of the run names. It calls add for each function of the inline
// chain, the outermost first, or not at all. It is called by one goroutine at a
// time.
type Resolver func(build string, offset uint64, add func(function, file string, line, start int32))

// resolve asks for the names at a place in a known file.
func (n *names) resolve(module stream.ModuleID, offset uint64) (chain []function) {
	if n.resolver == nil || module == 0 {
		return nil
	}
	n.resolver(n.tables.Modules.At(module).Build, offset, func(name, file string, line, start int32) {
		chain = append(chain, function{name, file, line, start})
	})
	return chain
}
