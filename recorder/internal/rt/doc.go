// Package rt is what the recorder knows about the processor, the kernel and the Go runtime beyond what Go promises. It
// does not depend on recordings. Each trick has a self-test, which runs at the start of a recording, and a portable
// replacement for where the test fails or the trick is not built (another system, another processor, tag
// gprof_portable).
//
//	trick                             how it is known to work              stands in
//	Clock: the processor's counter    the kernel keeps time by it; rate    time.Since
//	GoroutineAt: number in g          at one place in five goroutines      markers tell none
//	FindRoute: processor of g         code of procPin, byte by byte        Pin, then shared writers
//	WalkFrames: frame pointers        finds what runtime.Callers finds     runtime.Callers
//	Barrier: membarrier               the kernel registers it              writers that all share
//	Release: plain release store      memory model of both processors      sync/atomic
//	Nap: timerfd in the poller        the kernel makes one                 a timer and a channel
//	package backlog: heap samples     as those the runtime has published   runtime.MemProfile alone
//	ProfLabel, ExpandInlined          linkname of runtime/pprof            no tracks, no inlined calls
//
// Verified with these releases:
//
//	Go    amd64  arm64
//	1.26  tests  tests under qemu
//	1.27  tests  tests under qemu
//
// With a later release nothing of this is built but what stands in, by the constraint go1.28 beside gprof_portable: a
// name that its runtime lacks would be an error of the linker's in every program that embeds the recorder. To verify a
// release, run the tests with it (.ci/builds does, by GOTOOLCHAIN), add it here and to docs/support.md, and replace the
// constraint by that of the next one. GPROF_PORTABLE avoids the tricks of package rt's [Tricks] while a program runs.
package rt
