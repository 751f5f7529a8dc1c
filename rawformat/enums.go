package rawformat

// ClockKind is the clock whose ticks a chunk's times are in.
type ClockKind uint8

const (
	ClockMonotonic ClockKind = 0 // nanoseconds of CLOCK_MONOTONIC
	ClockTSC       ClockKind = 1 // the time-stamp counter, tied by anchors
)

// State is what a chunk is used for now.
type State uint32

const (
	StateCreated  State = 0 // never used
	StateInUse    State = 1 // a writer has it
	StateFull     State = 2 // in use, no byte left
	StateDone     State = 3 // closed and released; its content is whole
	StateRecycled State = 4 // given up; its content means nothing
	// StateLeftOut means that the file is just a header, padded to [HeadSize]: a slice
	// of the recording left out the rest, and nothing is lost.
	StateLeftOut State = 5
)

// WireType is how an argument of an event is encoded.
type WireType uint8

const (
	WireSint  WireType = 0
	WireUint  WireType = 1
	WireFloat WireType = 2
	WireText  WireType = 3
)

// Format is the unit and meaning of an event's field or a counter. It says how a front end
// shows the value. The numbers are part of the wire format.
type Format uint8

const (
	FormatInteger     Format = 0
	FormatDecimal     Format = 1
	FormatText        Format = 2
	FormatBytes       Format = 3
	FormatNanoseconds Format = 4 // a duration
	FormatTime        Format = 5 // ticks, shown as a time of day or since the start of the recording
	FormatPercentage  Format = 6 // 1.0 is 100 %
	FormatHexadecimal Format = 7
	FormatBool        Format = 8
	FormatPath        Format = 9
	FormatURL         Format = 10
	FormatString      Format = 11 // a string id of the dictionary, or a text with few distinct values
	FormatFlow        Format = 12 // an id shared by the markers of one flow
	FormatFlowEnd     Format = 13 // the same, in the marker that ends the flow
	FormatThread      Format = 14 // a tid
	FormatProcess     Format = 15 // a pid
	FormatWindow      Format = 16 // the window of a page entry
	FormatPicowatt    Format = 17 // energy in pWh, of counters

	// These are for fields. A reader that does not know them shows integers.
	FormatSeconds      Format = 18 // a duration in ns, as all durations are, shown in this unit
	FormatMilliseconds Format = 19
	FormatMicroseconds Format = 20
	FormatWholeNanos   Format = 21
	FormatMoment       Format = 22 // ns of CLOCK_MONOTONIC since [MetaTimeBase], shown as FormatTime is

	// These are for texts: the bytes of an id, 16 or 8, or its hexadecimal digits, twice as
	// many. See Spans in the package comment.
	FormatTraceID Format = 23
	FormatSpanID  Format = 24
)

// Privacy is what a value may reveal.
type Privacy uint8

const (
	PrivacyPlain  Privacy = 0
	PrivacyPath   Privacy = 1 // a path of the file system
	PrivacyURL    Privacy = 2 // an address that may hold queries
	PrivacyUser   Privacy = 3 // names a person or an account
	PrivacySecret Privacy = 4 // must not leave the machine
)

// FieldFlag is a property of an event's field.
type FieldFlag uint64

const (
	FieldSearchable FieldFlag = 1 << 0
	FieldHidden     FieldFlag = 1 << 1
	FieldLocal      FieldFlag = 1 << 2 // a number that is meaningful only within the process, such as the id of a flow
	FieldColor      FieldFlag = 1 << 3 // a text that is the color of the marker; the first such field counts
	FieldName       FieldFlag = 1 << 4 // a text that is the name of the marker, instead of the event's; the first such field counts
)

// EventFlag is a property of an event.
type EventFlag uint64

const (
	EventNested EventFlag = 1 << 0 // its intervals on a track are disjoint or nested
)

// GraphShape is how a field's numbers are drawn over time.
type GraphShape uint8

const (
	GraphBar    GraphShape = 0
	GraphLine   GraphShape = 1
	GraphFilled GraphShape = 2 // a line, filled below
)

// Location is a place where a front end shows an event's markers.
type Location uint64

const (
	ShowChart    Location = 1 << 0 // marker chart
	ShowTable    Location = 1 << 1 // marker table
	ShowTimeline Location = 1 << 2 // timeline overview
	ShowMemory   Location = 1 << 3 // memory timeline
	ShowIPC      Location = 1 << 4
	ShowFileIO   Location = 1 << 5
	ShowStack    Location = 1 << 6 // stack chart
)

// Phase is which part of an event a placed marker is: the kinds instant, interval, start
// and end, in their order.
type Phase uint8

const (
	PhaseInstant  Phase = 0
	PhaseInterval Phase = 1
	PhaseStart    Phase = 2
	PhaseEnd      Phase = 3
)

// CounterMode is a set that says what the absolute values of a counter mean.
type CounterMode uint8

const (
	CounterLevel CounterMode = 0      // a level, may fall: memory in use, queue length
	CounterTotal CounterMode = 1 << 0 // a total since the start, never falls: CPU time
	CounterOwn   CounterMode = 1 << 1 // the recorder's, not the program's: its name reveals nothing
)

// PauseScope is what a pause stops.
type PauseScope uint8

const (
	PauseAll      PauseScope = 0
	PauseSampling PauseScope = 1
)

// LogLevel is the level of a log entry.
type LogLevel uint8

const (
	LogInfo  LogLevel = 0
	LogWarn  LogLevel = 1
	LogError LogLevel = 2
)

// LostReason is why a recorder dropped something.
type LostReason uint8

const (
	LostNoChunk    LostReason = 0 // no chunk was free
	LostBusy       LostReason = 1 // every writer was in use
	LostTooBig     LostReason = 2 // larger than a block may be
	LostDictionary LostReason = 3 // the dictionary was full or could not be written
	LostSamples    LostReason = 4 // CPU samples that could not be taken or stored
	LostLabels     LostReason = 5 // label frames of goroutines, or labels of samples, for which there was no room
	LostCut        LostReason = 6 // files that others cut short while they were written, and the bytes that were gone
	LostKernel     LostReason = 7 // records of perf_event for which the kernel's buffer had no room
	LostDeep       LostReason = 8 // stacks too deep to be recorded whole: calls are missing, see [TruncatedPC]
	LostTime       LostReason = 9 // markers whose given times are years away, or end before they begin
)

// LostReasons names them, in order.
var LostReasons = []string{"no free chunk", "all writers busy", "entry too big", "dictionary full", "samples lost", "labels of too many goroutines", "files cut short by others", "records of the kernel for which there was no room", "deep stacks", "markers with impossible times"}

// WaitReason says what goroutines wait for.
type WaitReason uint8

const (
	WaitOther   WaitReason = 0
	WaitReceive WaitReason = 1
	WaitSend    WaitReason = 2
	WaitSelect  WaitReason = 3
	WaitIO      WaitReason = 4
	WaitSleep   WaitReason = 5
	WaitSync    WaitReason = 6
	WaitSyscall WaitReason = 7
	WaitReady   WaitReason = 8
)

// WaitReasons names them, in order.
var WaitReasons = []string{"other", "channel receive", "channel send", "select", "network", "sleep", "lock", "system call", "processor"}

// OffReason is why a thread is off the processor.
type OffReason uint8

const (
	OffWaiting   OffReason = 0 // it has nothing to run
	OffPreempted OffReason = 1 // it could run on
)

// OffReasons names them, in order.
var OffReasons = []string{"off CPU", "preempted"}

// ExitReason says how a process ended. Stopped, and normal with code 0, are clean ends:
// tools may leave out a child that ended in such a way before its parent's range start.
type ExitReason uint8

const (
	ExitStopped ExitReason = 0 // the recorder was stopped
	ExitNormal  ExitReason = 1 // the process ended by itself
	ExitSignal  ExitReason = 2 // killed; code is the signal
	ExitUnknown ExitReason = 3 // found dead
	ExitPanic   ExitReason = 4 // the recorder was stopped while a goroutine panicked
)

// ExitReasons names them, in order.
var ExitReasons = []string{"stopped", "exited", "killed", "found dead", "panicked"}

// Values of [MetaMadeWay].
const (
	MadeWayExpired = "expired"     // a child that ended cleanly, before what its parent still held
	MadeWayOrphan  = "parent-gone" // a child that ended cleanly, whose parent was gone or about to go
)

// MetaKeys are the keys of meta records that this version writes. A reader keeps unknown
// keys as they are. A list is written as several records with the same key.
const (
	MetaService    = "service"
	MetaVersion    = "version"
	MetaRevision   = "revision"
	MetaModified   = "modified" // "true" when built from a dirty tree
	MetaAttr       = "attr."    // prefix: attr.NAME
	MetaPid        = "pid"
	MetaParent     = "parent" // instance of the recording parent, hex; missing: none
	MetaParentIdx  = "parent-index"
	MetaBootID     = "boot-id"
	MetaHost       = "host"
	MetaExe        = "exe"
	MetaArg        = "arg" // a record for each argument
	MetaGo         = "go"
	MetaGoos       = "goos"
	MetaGoarch     = "goarch"
	MetaCPUs       = "cpus"
	MetaStartReal  = "start-realtime" // ns since the epoch
	MetaStartMono  = "start-monotonic"
	MetaTimeBase   = "time-base"    // CLOCK_MONOTONIC in ns, from which FormatMoment counts; missing: 0
	MetaClock      = "clock"        // which clock gives the ticks, and why
	MetaLimit      = "limit"        // bytes of the ring
	MetaMemory     = "memory.limit" // bytes of the memory cgroup at the start; missing: none
	MetaChunkSize  = "chunk"        // bytes of a chunk file
	MetaKeep       = "keep"         // ns before the end of a killed process that are protected
	MetaRangeStart = "range-start"  // of a live process, if no chunk's header states it
	MetaDiscarded  = "discarded"    // chunks; likewise
	MetaMadeWay    = "made-way"     // why nothing is left of a process, a MadeWay…; missing: the limit was reached
	MetaCPU        = "cpu"          // how CPU samples are taken
	MetaInterval   = "interval"     // ns between samples; 0: none are taken
	MetaSelfTest   = "self-test."
	MetaHeapRate   = "heap-rate" // bytes between heap samples at the start; 0: none are taken; missing: none are recorded
	MetaCounterHz  = "counter-hz"
	MetaNamespaces = "namespaces"
	MetaInnerPid   = "inner-pid"    // in its own pid namespace, if the process that samples it sees another one
	MetaModule     = "module"       // path of the program's main Go module
	MetaSlowed     = "slowed-by"    // parts of its build that cost time: race, msan, asan, cover; a record for each
	MetaCPUName    = "cpu-name"     // of the machine's processor
	MetaCores      = "cores"        // physical cores of the machine
	MetaFeature    = "feature"      // what is recorded, a record for each feature
	MetaTracks     = "track-filter" // a pattern of the tracks that are recorded, a record for each; missing: all
	MetaSampler    = "sampler"      // which program recorded the process from outside; missing: it recorded itself
)

// Names of counters by which readers judge how a process ended.
const (
	CounterGroupMemory = "cgroup memory" // bytes that count against MetaMemory
	CounterRSS         = "RSS"           // resident bytes of the process
)

// EventHeapPicture is the event of the recorder's own by which readers know how old the last picture of
// the heap is, which was taken near a limit of memory, and how much of the heap it explains. Its interval
// begins when the heap was read.
const EventHeapPicture = "heap picture"

// Names of counters by which readers judge what recording took.
const (
	CounterProcessCPU  = "process CPU"  // CPU time of all threads, in ns
	CounterRecorderCPU = "recorder CPU" // CPU time of the recorder's own work, in ns, without samples and markers
)

// EventTrigger is the name of the recorder's event about triggers. Its fields are texts: the
// rule; what happened, which begins with one of Trigger…; what was seen; and the name of the file
// that keeps it. Then numbers: how often the rule was held back before, and the flow.
const (
	EventTrigger   = "trigger"
	TriggerFired   = "fired"
	TriggerKept    = "kept"      // the file is there
	TriggerFailed  = "failed"    // and why
	TriggerHeld    = "held back" // told once a minute, and at the end of the recording
	TriggerOff     = "off"       // and why
	TriggerOn      = "on"        // again
	TriggerDirName = "triggered" // where files of snapshots lie, beside the processes of the session
)
