// Package recorder records what a program does into a bounded ring of files that outlives
// the program.
//
// Three lines embed it:
//
//	rec, err := recorder.Start(recorder.Options{})
//	if err != nil { log.Print(err) } // the program goes on, nothing records
//	defer rec.Stop()
//
// Typed events are package-level values. They may be marked before Start and while nothing
// records; then a mark costs one atomic load.
//
//	var flush = recorder.NewEvent2("flush", recorder.Bytes("size"), recorder.Path("file"))
//
//	flush.Mark(n, path)              // an instant
//	defer flush.Begin(n, path).End() // an interval
//
// # Promises to the program
//
// A marker makes no system call, takes no lock that blocks, and allocates nothing. If there is
// no room it is dropped and counted. Once the call has returned, the marker survives kill -9.
// There are three exceptions. While the ring still grows, a marker that takes one of the last
// prepared chunks wakes the recorder's goroutine. The first use of a name by [Mark] or [Text]
// defines an event. And where frame pointers can't be used (meta says so), an event with a
// stack ([WithStack]) allocates the first times that it is marked at a place.
//
// The program's own use of runtime/pprof is left alone, unless [Options.CPU] asks for CPU
// samples in windows.
//
// If somebody cuts a file of the recording short, or the disk beneath it fails, an access to
// its mapping raises a fatal signal (SIGBUS). On Linux (amd64, arm64) the recorder handles that
// signal: it puts memory in place of the missing part, in its own mappings and nowhere else,
// and the recording goes on in other files. The program gets all other faults as usual. On
// other systems, or if the program handles that signal itself, such a fault ends the recording
// ([Recorder.Err]).
//
// # In memory
//
// In a container whose file system is read-only, and on systems that map no files, set
// [Options.Dir] to [DirInMemory], or GPROF_DIR to :memory:. The ring is the same, but nothing
// of it outlives the process. The handler of package debug serves it, and [Recorder.Snapshot]
// and [Options.Dump] copy it to a disk.
//
// # Pages
//
// A page is something that a program works on for a while, such as a document, a tenant or a
// job. [OpenPage] opens it, and a field made by [PageID] says which page a marker belongs to.
// Firefox Profiler shows the page of a marker, and which pages are parts of others.
//
// # CPU samples
//
// On Linux (amd64, arm64) each thread has a timer on its CPU clock, which sends it a real-time
// signal: 62, or a lower one if the program uses that. The signal's handler writes time,
// thread, goroutine, labels and stack into a ring of the thread's own, in a mapped file, so
// samples survive kill -9 as markers do. The program may start CPU profiles and be notified of
// all signals as it likes. The handler depends on where things lie in Go's runtime; the
// recorder finds that out at the start and tests it. If a test fails, and on other systems, no
// samples are taken, and meta says why. See [CPUMode].
//
// An idle thread gets no signals. Its CPU clock, read at most once a second, shows that it was
// idle. The recording then repeats its last sample, with no CPU time and weight 0, at the
// beginning and at the end of that time.
//
// Goroutines that [NewTrack] gives a name are a track of that name in outputs; all others are
// grouped by their root functions. A [Label] is a frame that the program puts on its stack. On
// the same systems, markers carry their goroutines, and stand where the samples of these do.
//
// Labels of runtime/pprof that the program sets itself are recorded with [CPUPprof] only,
// whose profiles contain their texts. The signal's handler finds only their address, and by the
// time that the sample is read something else may lie there. So it looks only at the labels of
// tracks.
//
// # Heap samples
//
// The runtime samples one allocation in each 512 KiB, or in each runtime.MemProfileRate bytes.
// Every 10 seconds the recorder writes what has changed, by stack and size of objects (see
// [Options.HeapEvery]), which costs at most a thousandth of a processor. The linker switches
// the runtime's sampling off in programs that never read it; embedding the recorder keeps it
// on.
//
// # Counters
//
// Ten times a second the recorder reads counters ([Options.CounterHz]):
//
//	Go's runtime   heap, what of it was live, its goal, what is allocated, memory,
//	               goroutines by what they do, threads, latency of the scheduler, waits
//	               for locks, CPU time of the garbage collector
//	the process    CPU time of all and of each thread, resident memory, what it read and
//	               wrote, and what of that came from disks and went to them
//	its cgroup     memory and its limit, how long its CPU limit held it up, pressure
//	the system     pressure, what the interfaces of the network namespace received and
//	               sent, energy (RAPL)
//	the recorder   CPU time of its upkeep
//
// [NewCounter] adds counters of the program. On systems other than Linux there are the
// runtime's counters and CPU time. If a counter is missing, because the machine does not have
// it or does not show it to this process, meta names it and says why. Pressure and throttling
// are read once a second. A value that does not change is written once a second, and once more
// before it changes. Reading all of them takes about 30 µs of CPU time, 0.03 % of a processor
// at 10 Hz, and allocates nothing; some ten files are kept open for it.
//
// Cycles of the garbage collector are intervals named GC. The time when a cycle ended, and how
// long the world was stopped, are exact; its length is a lower bound. The time that goroutines
// waited for a processor, as the 99th percentile between two readings, is also Gecko's event
// delay.
//
// Once a second the recorder writes its own cost: time for the upkeep of the ring, for counters
// and for samples, and the number of samples. That is profilerOverhead in a profile for
// Firefox.
//
// # Waits
//
// With [Options.WaitHz] the recorder looks at all goroutines that many times a second. It
// writes how many wait at which stack, for what, and for how long since the last look. The
// runtime does not tell which goroutine is which there.
//
// With [Options.WallHz] it makes rounds over the goroutines without stopping them, up to 1,000
// a second, and writes for each one that waits where, for what, and in how many rounds.
//
// # Sessions
//
// All processes of a service record into one session, a directory that is named after the
// service, and share its limit. A restarted service goes on in the same session. When the limit
// is reached the oldest chunk of the session is discarded, whichever process wrote it. But no
// process falls below half of an equal share, and the last 60 seconds of a process that was
// killed are protected, see [Options.Keep]. This needs no daemon: each process looks at the
// session's control page ten times a second.
//
// Files are made ahead of the writers, by a quarter of the limit and at most 4 MiB. While the
// ring is below its limit, a burst up to that size overwrites nothing. A larger burst reuses
// the oldest chunks before the ring has grown. As a rule, only a program that keeps all
// processors busy with markers and nothing else makes such a burst, because the recorder's
// goroutine then has to wait for the scheduler. See TestBurstsBelowTheLimit.
//
// The command gprof-record shows a session, and has all its processes pause, resume, stop and
// start. A pause of the session and one by [Recorder.Pause] don't cancel each other: recording
// goes on when neither is in force. After a stop, everything recorded is sealed and stays
// readable; a start loses none of it. A process that starts in a paused or stopped session
// begins in that state.
//
// If the control page can't be used, for example because of its file system, a process records
// with a limit of its own, and meta says why. If the session has no room for another process,
// Start returns an error and nothing is recorded.
//
// # Systems
//
// On Linux, macOS, the BSDs and Windows the recorder records markers, counters of the runtime,
// heap samples, waits and windows of the execution trace, and these survive when the process is
// killed. CPU samples by signals, counters of the system, time by the processor's counter and a
// writer for each processor are available on Linux (amd64, arm64) only; meta says what is
// absent.
//
// # What is recorded
//
// [Options.Features] and [Options.Without] choose kinds of data, and [Options.Tracks] chooses
// tracks. Operators can do the same with GPROF_FEATURES=-heap and GPROF_TRACKS=worker.
// [Recorder.Trace] puts a window of Go's execution trace beside the recording when something is
// worth a closer look.
//
// # Before Start, and while it runs
//
// If a program imports package early, markers made before Start are kept, and Start takes them
// over. [Recorder.Stats] says how a recording is doing, and is cheap enough to call at every
// scrape of metrics. [Recorder.Snapshot] copies the last seconds of a recording when something
// has happened.
//
// # Environment
//
// Options that are not set come from the environment. GPROF_HELP=1 makes [Start] and package
// auto print the list of variables to standard error. GPROF_SESSION and GPROF_LIMIT override
// the options, because they are the operator's choice. GPROF=off keeps Start from recording.
//
// A recorder tells the processes that the program starts where to record and who their parent
// is: while it runs, GPROF_SESSION and GPROF_PARENT are set in the program's environment.
//
// # How it works
//
// Each processor of the Go scheduler has a writer of its own. A marker takes the writer of the
// processor it runs on, reads the clock, encodes the block straight into a mapped chunk file
// and commits it with one store (see package rawformat). It does so in assembly, which the
// runtime does not interrupt, so a plain store is enough to own the writer. Time is the
// processor's counter if the kernel's own clock is based on it. The recorder tests each of
// these tricks at the start; where one fails, it uses something portable instead, and meta says
// so. If processors have no writers, all writers are shared: a goroutine picks one by the
// address of its stack and locks it with one exchange; if it is taken, the goroutine tries the
// next. With the build tag gprof_portable the recorder uses nothing but what Go promises.
//
// One goroutine, on a thread of its own, does all upkeep: it prepares and seals chunks, reads
// counters, drains the rings of CPU samples, writes heap samples, and gives new stacks their
// ids in the dictionary.
package recorder
