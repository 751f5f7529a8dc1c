// Package backlog reads the heap samples that Go's runtime has taken and not published.
//
// runtime.MemProfile has samples up to a garbage collection that has ended, as a rule the one
// before the last, so that what was allocated and what was freed fit together. What a program
// allocated since is missing, and that may be more than half of a heap which grows fast. The
// runtime has counted it, in the same buckets, for coming publications. There is no way to ask for
// it but to force a collection, which stops the program for what may be seconds when memory is
// scarce. So it is read from the runtime's memory, where nothing is promised: the list of buckets
// is searched for among the runtime's variables, and taken only if it is, bucket by bucket, what
// runtime.MemProfile returns.
package backlog
