package gotrace

import "unsafe"

// What is taken for what lasts, in bytes, by us and by the library, with the
// places in maps.
const (
	goroutineBytes = int64(unsafe.Sizeof(goroutine{})) + 256
	intervalBytes  = int64(unsafe.Sizeof(interval{})) + 64
	whyBytes       = int64(unsafe.Sizeof(whyKey{})) + 32
)

// largest is how many bytes the largest generation has.
func (f *File) largest() (bytes int64) {
	for i := range f.all {
		bytes = max(bytes, f.all[i].to-f.all[i].from)
	}
	return bytes
}

// full says how much memory is taken beside the tables, and reports whether that
// is too much. The library has a whole generation, and a quarter more with what it
// makes of strings and stacks; it is counted as if it were always the largest.
func (s *Source) full() bool {
	lasting := int64(len(s.live))*goroutineBytes + int64(len(s.tasks)+len(s.ranges))*intervalBytes + int64(len(s.waits.under))*whyBytes
	s.hold(s.largest + s.largest/4 + lasting)
	s.tables.Lock()
	defer s.tables.Unlock()
	return s.tables.Full()
}

// hold tells the tables what is taken beside them.
func (s *Source) hold(bytes int64) {
	s.tables.Lock()
	defer s.tables.Unlock()
	s.tables.HoldInput(bytes - s.held)
	s.held = bytes
}
