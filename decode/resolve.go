package decode

// Resolver names the functions at an offset in a module, for places that no
// recording of the run names. It calls add for each function of the inline
// chain, the outermost first, or not at all.
type Resolver func(build string, offset uint64, add func(function, file string, line int32))

// ResolveWith makes n ask r for names. It must be called before the first
// source is read.
func (n *Names) ResolveWith(r Resolver) { n.resolver = r }

// resolve asks for the names at a place in a known file.
func (n *Names) resolve(at address) (chain []symbol) {
	if n.resolver == nil || at.module == 0 {
		return nil
	}
	n.resolver(n.tables.Modules.At(at.module).Build, at.offset, func(function, file string, line int32) {
		chain = append(chain, symbol{function, file, line})
	})
	return chain
}
