// Package recorder records what a program does, into a bounded ring of files
// that outlives it.
//
// Three lines embed it:
//
//	rec, err := recorder.Start(recorder.Options{})
//	if err != nil { log.Print(err) } // the program goes on, nothing records
//	defer rec.Stop()
//
// Typed events are package-level values. They may be marked before Start and
// while nothing records; then a mark costs one atomic load.
//
//	var flush = recorder.NewEvent2("flush", recorder.Bytes("size"), recorder.Path("file"))
//
//	flush.Mark(n, path)              // an instant
//	defer flush.Begin(n, path).End() // an interval
//
// # Promises to the program
//
// A marker makes no system call, takes no lock that blocks and allocates
// nothing; where there is no room it is dropped and counted. (While the ring still
// grows, a marker that takes one of the last prepared chunks wakes the keeper.) What a marker call
// has returned from is found after kill -9. The exception is the first use of a
// name by [Mark] or [Text]; and without frame pointers (see meta) an event with a
// stack ([WithStack]) allocates the first times that it is marked at a place.
//
// The program's own use of runtime/pprof is left alone unless [Options.CPU]
// asks for CPU samples in windows.
//
// A file of the recording that somebody else cuts short, or a disk that fails
// beneath it, would be a fatal signal (SIGBUS) for who touches it. On Linux (amd64, arm64)
// the recorder has a handler for that: it puts memory in the place of what is gone, in
// its own mappings and nowhere else, and the recording goes on in other files. All
// other faults are the program's as ever. Elsewhere, or where the program handles
// that signal itself, such a fault ends the recording ([Recorder.Err]).
//
// # In memory
//
// In a container whose file system is read-only, and on systems that map no files,
// [Options.Dir] is [DirInMemory], or GPROF_DIR is :memory:. The ring is the same, but
// nothing of it outlives the process: the handler of package debug serves it, and
// [Recorder.Snapshot] and [Options.Dump] copy it to where there is a disk.
//
// # Pages
//
// What a program works on for a while, such as a document, a tenant or a job, is a
// page: [OpenPage] names it, and markers with a field of [PageID] are of it. Firefox
// Profiler shows which page a marker is of, and which pages are parts of others.
//
// # CPU samples
//
// On Linux (amd64, arm64) each thread has a timer on its CPU clock, which sends it a
// real-time signal: 62, or one below if the program uses that. The signal's
// handler notes time, thread, goroutine, labels and stack in a ring of the
// thread's, in a mapped file; so samples survive kill -9 as markers do. The program
// may start CPU profiles, and be notified of all signals, as it likes. Where things
// lie in the runtime is found out at the start, and tried; where that fails, and
// on other systems, no samples are taken, and meta says why. See [CPUMode].
//
// A thread that does nothing gets no signals. Its CPU clock, read once a second at
// most, tells that it did nothing; the recording then repeats its last sample, with
// no CPU time and weight 0, for the beginning and the end of that.
//
// What has a name by [NewTrack] is a track in outputs, the rest is grouped by root
// function. A [Label] is a frame that the program puts into its stack. Markers tell
// their goroutine, on the same systems.
//
// Labels of runtime/pprof that the program sets itself are recorded by [CPUPprof]
// alone, for that profile brings their texts. The signal's handler finds only where
// they lie, and when the sample is looked at something else may lie there: what is
// no track's is not looked at.
//
// # Heap samples
//
// The runtime takes a sample of each 512 KiB that are allocated, whatever stands
// in runtime.MemProfileRate when it does. Every 10 seconds the keeper records
// what has changed by stack and size of objects, see [Options.HeapEvery]; that
// costs at most a thousandth of a processor. To record it is what makes the
// runtime take them: the linker switches that off in programs that never look.
//
// # Counters
//
// Ten times a second the keeper reads counters ([Options.CounterHz]):
//
//	Go's runtime   heap, its goal, what is allocated, memory, goroutines by what they do,
//	               threads, latency of the scheduler, waits for locks, CPU time of the
//	               garbage collector
//	the process    CPU time of all and of each thread, resident memory, what it read and
//	               wrote, and what of that came from disks and went to them
//	its cgroup     memory and its limit, how long its CPU limit held it up, pressure
//	the system     pressure, what the interfaces of the network namespace received and
//	               sent, energy (RAPL)
//	the recorder   CPU time of its housekeeping
//
// The program's own are those of [NewCounter]. Outside of Linux there are those of the
// runtime, and CPU time. What a machine does not show, or not to this process, is
// named in meta with the reason. Pressure and throttling are read once a second. A
// value that stays as it is is stated once a second, and before it changes. A look at
// all of them takes about 30 µs of CPU time, 0.03 % of a processor at 10 Hz, and
// allocates nothing; some ten files are kept open for it.
//
// Cycles of the garbage collector are markers, intervals named GC. When they ended,
// and for how long the world was stopped, is exact; how long they took is a lower bound.
// How long goroutines waited for a processor, the 99th percentile between two looks, is
// also what Gecko calls event delay.
//
// Once a second it is written what the recorder itself cost: time for the upkeep of the
// ring, for counters and for samples, and how many samples it took. That is
// profilerOverhead in a profile for Firefox.
//
// # Waits
//
// With [Options.WaitHz] the keeper looks at all goroutines so often, and
// records how many wait at which stack, for what, and since the last look. The
// runtime does not tell which goroutine is which there.
//
// # Sessions
//
// All processes of a service record into one session, a directory that is named
// after the service, and share its limit. A restarted service goes on in the
// same session. When the limit is reached the oldest chunk of the session goes,
// whoever recorded it, but nobody falls below half of an equal share, and the
// last 60 seconds of a process that was killed are protected, see
// [Options.Keep]. No process is needed for that: each looks at the session's
// control page ten times a second.
//
// Files are made as they are needed, ahead of the writers by a quarter of the
// limit, at most 4 MiB. What is written at once, before the keeper comes by,
// overwrites nothing up to that size while the ring is below its limit; with more, the
// oldest chunks are reused before the ring has grown. As a rule that takes a
// program that keeps all processors busy with nothing but markers: the keeper
// then waits for the scheduler. See TestBurstsBelowTheLimit.
//
// The command gprof-record shows a session, and has all its processes pause,
// resume, stop and start. A pause of the session and one by [Recorder.Pause]
// don't cancel each other: recording goes on when neither is in force. After a
// stop what was recorded is sealed and stays readable; start loses none of it.
// A process that starts in a paused or stopped session begins so.
//
// Where the control page can't be used, because of its file system, say, a
// process records with a limit of its own, and meta says why. When the session
// has no room for one more process, Start returns an error and nothing is
// recorded.
//
// # Systems
//
// Markers, counters of the runtime, heap samples, waits and windows of the execution
// trace are recorded on Linux, macOS, the BSDs and Windows, and are found after the
// process was killed. CPU samples by signals, counters of the system, the way by the
// processor's counter and writers of processors are Linux' (amd64, arm64); meta says
// what is absent.
//
// # What is recorded
//
// [Options.Features] and [Options.Without] choose among kinds of data,
// [Options.Tracks] among tracks; so does an operator by GPROF_FEATURES=-heap and
// GPROF_TRACKS='worker *'. [Recorder.Trace] puts a window of Go's execution trace
// beside the recording when something is worth a closer look.
//
// # Before Start, and while it runs
//
// Markers that are made before Start are kept where package early is imported;
// Start takes them over. [Recorder.Stats] tells how a recording is doing, cheaply enough
// for a scrape of metrics. [Recorder.Snapshot] copies the last seconds of it when
// something has happened.
//
// # Environment
//
// Options that are not set come from the environment; GPROF_HELP=1 makes
// [Start] and package auto print the list to standard error. GPROF_SESSION and GPROF_LIMIT go before the
// options, because the operator says them. GPROF=off keeps Start from recording.
//
// A recorder tells the processes that it starts where to record and who their
// parent is: while it runs, GPROF_SESSION and GPROF_PARENT stand in the
// program's environment.
//
// # How it works
//
// Each processor of the Go scheduler has a writer of its own. A marker takes that of
// the processor it runs on, reads the clock, encodes the block straight into a mapped
// chunk file and commits it with one store (see package rawformat). It does so in
// assembly, which the runtime does not interrupt: so a store is enough to have the
// writer alone. Time is the processor's counter where the kernel itself takes it from
// there. Each of these tricks is tried at the start; where one does not work, something
// portable is in its place, and meta says so. Where processors have no writers, all
// are shared: a goroutine picks one by the address of its stack and locks it with one
// exchange; one that is taken is passed over. With the build tag gprof_portable the
// recorder uses nothing but what Go promises.
//
// One goroutine, on a thread of its own, keeps house: it prepares and seals
// chunks, samples counters, drains the rings of samples, records those of
// the heap, and gives new stacks their ids in the dictionary.
package recorder
