package rawformat

// Kind is the first byte of a block's body.
type Kind uint8

// Place is the file in which a kind may occur.
type Place uint8

const (
	InChunk Place = iota
	InDict
	InMeta
	InExit
)

// FieldType is how a field is encoded; the letters are those of the package comment.
type FieldType uint8

const (
	Uint   FieldType = iota // U
	Sint                    // S
	Time                    // T
	Fixed                   // X
	Text                    // B
	PCs                     // P
	ArgSet                  // A
	Coarse                  // C
)

// TimeUnit is how many ticks a value of 1 means in a field of type T or C; 0 for other
// types.
func (t FieldType) TimeUnit() uint64 {
	switch t {
	case Time:
		return 1
	case Coarse:
		return SampleUnit
	}
	return 0
}

// Field is one field of a kind.
type Field struct {
	Name string
	Type FieldType
}

// Spec describes one kind.
type Spec struct {
	Name       string
	Introduced int // format version
	Place      Place
	Fields     []Field
}

// Kinds of blocks in a chunk.
const (
	KindSync            Kind = 1
	KindContext         Kind = 2
	KindStack           Kind = 3
	KindSample          Kind = 4
	KindSameSample      Kind = 5
	KindInstant         Kind = 6
	KindInterval        Kind = 7
	KindStart           Kind = 8
	KindEnd             Kind = 9
	KindCounter         Kind = 10
	KindLost            Kind = 11
	KindAnchor          Kind = 12
	KindPause           Kind = 13
	KindResume          Kind = 14
	KindCollectionStart Kind = 15
	KindCollectionEnd   Kind = 16
	KindOverhead        Kind = 17
	KindDelay           Kind = 18
	KindTrackStart      Kind = 19
	KindTrackEnd        Kind = 20
	KindThreadStart     Kind = 21
	KindThreadEnd       Kind = 22
	KindPage            Kind = 23
	KindPageEnd         Kind = 24
	KindLog             Kind = 25
	KindAllocation      Kind = 26
	KindLabels          Kind = 27
	KindWait            Kind = 28
	KindSampling        Kind = 29
	KindBusy            Kind = 30
	KindIdle            Kind = 31
)

// Kinds of records in a dictionary.
const (
	KindDefString   Kind = 32
	KindDefCategory Kind = 33
	KindDefEvent    Kind = 34
	KindDefField    Kind = 35
	KindDefTrack    Kind = 36
	KindDefCounter  Kind = 37
	KindDefModule   Kind = 38
	KindDefFrame    Kind = 39
	KindDefLabel    Kind = 40
	KindDefStack    Kind = 41
	KindDefSymbol   Kind = 42
	KindDefStart    Kind = 43
	KindDefLabelSet Kind = 44
	KindDefShow     Kind = 45
	KindDefGraph    Kind = 46
	KindDefRoot     Kind = 47
)

// Kinds of records in a meta and an exit file.
const (
	KindMeta Kind = 48
	KindExit Kind = 56
)

// More kinds of blocks in a chunk.
const (
	KindOffCPU  Kind = 64
	KindPlaced  Kind = 65
	KindBegan   Kind = 66
	KindWaiting Kind = 67
	KindBusyFor Kind = 68
)

// Kinds is the table of all kinds, indexed by [Kind]; an unused number has an
// empty Name. See enums.go for the values of enumerations.
var Kinds = [256]Spec{
	KindSync: {"sync", 0, InChunk, []Field{{"index", Uint}, {"epoch", Uint}, {"time", Uint}, {"goroutine", Uint}, {"track", Uint}}},
	// root is the string id of the goroutine's root function, 0 unknown.
	KindContext: {"context", 0, InChunk, []Field{{"goroutine", Uint}, {"track", Uint}, {"root", Uint}}},
	// labels is the id of a label set, 0 none. See Context.
	KindLabels: {"labels", 0, InChunk, []Field{{"labels", Uint}}},
	// The goroutine of the context began at the address start, 0 unknown. See Context.
	KindBegan: {"began", 0, InChunk, []Field{{"start", Uint}}},
	KindStack: {"stack", 0, InChunk, []Field{{"pcs", PCs}}},
	// weight is how many samples this one stands for; cpu is nanoseconds since
	// the thread's last sample plus 1, 0 unknown; thread is the tid, 0 unknown.
	// window is how long before time the sample may have been taken, in ns.
	KindSample: {"sample", 0, InChunk, []Field{{"time", Time}, {"thread", Uint}, {"goroutine", Uint}, {"track", Uint}, {"stack", Uint}, {"weight", Uint}, {"cpu", Uint}, {"window", Uint}}},
	// The stack is that of the last sample of the same thread in the same chunk, of
	// the same goroutine where the thread is 0.
	KindSameSample: {"same-sample", 0, InChunk, []Field{{"time", Time}, {"thread", Uint}, {"goroutine", Uint}, {"weight", Uint}, {"cpu", Uint}}},
	// See Samples of threads in the package comment for these three and for busy-for.
	KindSampling: {"sampling", 0, InChunk, []Field{{"track", Uint}, {"period", Uint}}},
	KindBusy:     {"busy", 0, InChunk, []Field{{"time", Coarse}, {"thread", Sint}, {"goroutine", Sint}, {"stack", Uint}}},
	KindIdle:     {"idle", 0, InChunk, []Field{{"thread", Sint}, {"after", Uint}}},
	KindInstant:  {"instant", 0, InChunk, []Field{{"event", Uint}, {"stack", Uint}, {"time", Time}, {"args", ArgSet}}},
	// time is the interval's end, duration in ticks.
	KindInterval: {"interval", 0, InChunk, []Field{{"event", Uint}, {"stack", Uint}, {"time", Time}, {"duration", Uint}, {"args", ArgSet}}},
	KindStart:    {"start", 0, InChunk, []Field{{"event", Uint}, {"stack", Uint}, {"time", Time}, {"args", ArgSet}}},
	KindEnd:      {"end", 0, InChunk, []Field{{"event", Uint}, {"stack", Uint}, {"time", Time}, {"args", ArgSet}}},
	// value is absolute; number is how many operations led to it; 0: unknown.
	KindCounter: {"counter", 0, InChunk, []Field{{"time", Time}, {"counter", Uint}, {"value", Sint}, {"number", Uint}}},
	KindLost:    {"lost", 0, InChunk, []Field{{"time", Time}, {"reason", Uint}, {"count", Uint}, {"bytes", Uint}}},
	// All are in ns except tsc; 0: unknown. boottime counts while suspended.
	KindAnchor: {"anchor", 0, InChunk, []Field{{"time", Time}, {"tsc", Uint}, {"monotonic", Uint}, {"realtime", Sint}, {"boottime", Uint}}},
	// what is a [PauseScope].
	KindPause:           {"pause", 0, InChunk, []Field{{"time", Time}, {"what", Uint}}},
	KindResume:          {"resume", 0, InChunk, []Field{{"time", Time}, {"what", Uint}}},
	KindCollectionStart: {"collection-start", 0, InChunk, []Field{{"time", Time}}},
	KindCollectionEnd:   {"collection-end", 0, InChunk, []Field{{"time", Time}}},
	// The cost of the recorder's housekeeping since the previous block, in ns: taking
	// locks (0 in recordings before it was measured), upkeep of the ring and discarding,
	// counters, and taking that number of samples. No part holds another.
	KindOverhead: {"overhead", 0, InChunk, []Field{{"time", Time}, {"lock", Uint}, {"clean", Uint}, {"counters", Uint}, {"threads", Uint}, {"samples", Uint}}},
	// The time that work had waited when the thread got to it, in ns.
	KindDelay:       {"delay", 0, InChunk, []Field{{"time", Time}, {"thread", Uint}, {"delay", Uint}}},
	KindTrackStart:  {"track-start", 0, InChunk, []Field{{"time", Time}, {"track", Uint}}},
	KindTrackEnd:    {"track-end", 0, InChunk, []Field{{"time", Time}, {"track", Uint}}},
	KindThreadStart: {"thread-start", 0, InChunk, []Field{{"time", Time}, {"thread", Uint}, {"name", Text}}},
	KindThreadEnd:   {"thread-end", 0, InChunk, []Field{{"time", Time}, {"thread", Uint}}},
	// time is when it was opened. The block of a page that stays open is repeated before
	// it is discarded, and before the page ends, with the same fields.
	KindPage:    {"page", 0, InChunk, []Field{{"time", Time}, {"tab", Uint}, {"window", Uint}, {"embedder", Uint}, {"private", Uint}, {"url", Text}}},
	KindPageEnd: {"page-end", 0, InChunk, []Field{{"time", Time}, {"window", Uint}}},
	// level is a [LogLevel].
	KindLog: {"log", 0, InChunk, []Field{{"time", Time}, {"level", Uint}, {"text", Text}}},
	// Heap samples of one site: see Heap samples in the package comment.
	KindAllocation: {"allocation", 0, InChunk, []Field{{"time", Time}, {"stack", Uint}, {"size", Uint}, {"rate", Uint}, {"allocated", Uint}, {"freed", Uint}, {"allocated-before", Uint}, {"freed-before", Uint}, {"previous", Uint}}},
	// So many goroutines wait, for a reason of [WaitReasons]: each for wall ns more
	// since they were last looked at.
	KindWait: {"wait", 0, InChunk, []Field{{"time", Time}, {"stack", Uint}, {"reason", Uint}, {"goroutines", Uint}, {"wall", Uint}}},

	// A thread was off the processor for that many ns until time, for a reason of
	// [OffReasons]; stack is where it left.
	KindOffCPU: {"off-cpu", 0, InChunk, []Field{{"time", Time}, {"thread", Uint}, {"track", Uint}, {"stack", Uint}, {"reason", Uint}, {"wall", Uint}}},

	// A goroutine was seen waiting in that many rounds, one each period ns, for a reason of
	// [WaitReasons]; time is that of the last look.
	KindWaiting: {"waiting", 0, InChunk, []Field{{"time", Time}, {"goroutine", Uint}, {"stack", Uint}, {"reason", Uint}, {"rounds", Uint}, {"period", Uint}}},

	// A busy block whose CPU time was measured: excess is what it has beyond the period, in
	// units of [CPUUnit].
	KindBusyFor: {"busy-for", 0, InChunk, []Field{{"time", Coarse}, {"thread", Sint}, {"goroutine", Sint}, {"stack", Uint}, {"excess", Sint}}},

	// A marker whose times the program gave: it begins shift ticks after time, and an
	// interval ends duration ticks later. phase is a [Phase]. Time is when it was
	// recorded, so that blocks of a chunk stay in order.
	KindPlaced: {"placed", 0, InChunk, []Field{{"event", Uint}, {"stack", Uint}, {"time", Time}, {"phase", Uint}, {"shift", Sint}, {"duration", Uint}, {"args", ArgSet}}},

	KindDefString: {"def-string", 0, InDict, []Field{{"id", Uint}, {"text", Text}}},
	// sub is a subcategory; it may be empty.
	KindDefCategory: {"def-category", 0, InDict, []Field{{"id", Uint}, {"name", Text}, {"color", Text}, {"sub", Text}}},
	// display is a set of [Location]; the labels are templates of Firefox
	// Profiler's marker schema, empty for its default.
	KindDefEvent: {"def-event", 0, InDict, []Field{{"id", Uint}, {"category", Uint}, {"name", Text}, {"display", Uint}, {"chart", Text}, {"tooltip", Text}, {"table", Text}}},
	// wire is the shape's type of the argument; format is a [Format], privacy a
	// [Privacy], flags a set of [FieldFlag].
	KindDefField: {"def-field", 0, InDict, []Field{{"event", Uint}, {"position", Uint}, {"name", Text}, {"label", Text}, {"wire", Uint}, {"format", Uint}, {"privacy", Uint}, {"flags", Uint}}},
	// More about a defined event: flags is a set of [EventFlag], description is for
	// people. Events with the same type are shown alike, and differ in names and categories;
	// an event without one is of a type of its own. The last record of an event counts.
	KindDefShow: {"def-show", 0, InDict, []Field{{"event", Uint}, {"flags", Uint}, {"description", Text}, {"type", Text}}},
	// The field's numbers are drawn over time: shape is a [GraphShape], color one of
	// Firefox Profiler's, empty for any. A field has one graph, the one defined last.
	KindDefGraph: {"def-graph", 0, InDict, []Field{{"event", Uint}, {"position", Uint}, {"shape", Uint}, {"color", Text}}},
	// Goroutines that began at the address start have the root function name, a string id:
	// the compiler may have made another one around it.
	KindDefRoot:  {"def-root", 0, InDict, []Field{{"start", Uint}, {"name", Uint}}},
	KindDefTrack: {"def-track", 0, InDict, []Field{{"id", Uint}, {"name", Text}}},
	// unit is a [Format]; mode is a set of [CounterMode].
	KindDefCounter: {"def-counter", 0, InDict, []Field{{"id", Uint}, {"name", Text}, {"category", Text}, {"description", Text}, {"unit", Uint}, {"mode", Uint}}},
	// A mapped file: addresses start to end hold the file from offset on.
	// offset-in-file = pc - start + offset.
	KindDefModule: {"def-module", 0, InDict, []Field{{"id", Uint}, {"path", Text}, {"build", Text}, {"start", Fixed}, {"end", Fixed}, {"offset", Fixed}}},
	// offset is pc - start of the module; with module 0 it is the pc itself.
	KindDefFrame: {"def-frame", 0, InDict, []Field{{"id", Uint}, {"module", Uint}, {"offset", Uint}}},
	// A frame with a name but without code; it shares the ids of def-frame.
	KindDefLabel: {"def-label", 0, InDict, []Field{{"id", Uint}, {"category", Uint}, {"name", Text}}},
	KindDefStack: {"def-stack", 0, InDict, []Field{{"id", Uint}, {"parent", Uint}, {"frame", Uint}}},
	// One function of the frame's inline chain: depth 0 is the outermost.
	// function and file are string ids.
	KindDefSymbol: {"def-symbol", 0, InDict, []Field{{"frame", Uint}, {"depth", Uint}, {"function", Uint}, {"file", Uint}, {"line", Uint}}},
	// The line at which the function of a def-symbol begins; profile-guided compilers
	// count lines from there.
	KindDefStart: {"def-start", 0, InDict, []Field{{"function", Uint}, {"file", Uint}, {"line", Uint}}},
	// The set parent (0: none) with one more label; key and value are string ids. A label
	// replaces one with the same key in parent.
	KindDefLabelSet: {"def-label-set", 0, InDict, []Field{{"id", Uint}, {"parent", Uint}, {"key", Uint}, {"value", Uint}}},

	KindMeta: {"meta", 0, InMeta, []Field{{"key", Text}, {"value", Text}}},
	// reason is an [ExitReason]; parent is an instance, 0 none; parent-index is
	// the parent's hand-out mark at that moment; discarded counts chunks.
	KindExit: {"exit", 0, InExit, []Field{{"monotonic", Uint}, {"realtime", Sint}, {"reason", Uint}, {"code", Sint}, {"parent", Fixed}, {"parent-index", Uint}, {"range-start", Uint}, {"range-end", Uint}, {"discarded", Uint}, {"text", Text}}},
}

// Known reports whether k is in the table.
func (k Kind) Known() bool { return Kinds[k].Name != "" }

// KindOf returns the kind of a name in the table.
func KindOf(name string) (Kind, bool) {
	for k := range Kinds {
		if Kinds[k].Name == name && name != "" {
			return Kind(k), true
		}
	}
	return 0, false
}
