// Package perfettoproto has the numbers of the fields of Perfetto's traces: of those messages that a converter
// writes. Beside each stands its name in Perfetto's schema, and a test compares them with what Perfetto publishes.
//
// A trace is a Trace message: packets, each with the time and one payload. What several packets refer to, such
// as names and stacks, is interned data: it is sent once, before the packets that name it by number.
//
// The schema is that of Perfetto 59, in which no field may change its meaning. See
// https://perfetto.dev/docs/reference/trace-packet-proto.
package perfettoproto

// The fields of Trace.
const TracePacket = 1 // packet

// The fields of TracePacket.
const (
	PacketClockSnapshot   = 6  // clock_snapshot
	PacketTimestamp       = 8  // timestamp
	PacketSequence        = 10 // trusted_packet_sequence_id
	PacketTrackEvent      = 11 // track_event
	PacketInternedData    = 12 // interned_data
	PacketSequenceFlags   = 13 // sequence_flags
	PacketProfile         = 37 // profile_packet
	PacketDefaults        = 59 // trace_packet_defaults
	PacketTrackDescriptor = 60 // track_descriptor
	PacketPerfSample      = 66 // perf_sample
)

// Values of PacketSequenceFlags, which may be added.
const (
	StateCleared = 1 // nothing is interned yet
	StateNeeded  = 2 // may refer to interned data
)

// The fields of TracePacketDefaults.
const (
	DefaultsClock      = 58 // timestamp_clock_id
	DefaultsPerfSample = 12 // perf_sample_defaults
)

// The fields of ClockSnapshot.
const (
	SnapshotClock   = 1 // clocks
	SnapshotPrimary = 2 // primary_trace_clock
)

// The fields of ClockSnapshot.Clock.
const (
	ClockID   = 1 // clock_id
	ClockTime = 2 // timestamp
)

// Values of ClockID, SnapshotPrimary and DefaultsClock.
const (
	Realtime        = 1
	Monotonic       = 3
	MonotonicCoarse = 4 // that of heap profiles
)

// The fields of TrackDescriptor.
const (
	TrackUUID        = 1  // uuid
	TrackName        = 2  // name
	TrackProcess     = 3  // process
	TrackThread      = 4  // thread
	TrackParent      = 5  // parent_uuid
	TrackCounter     = 8  // counter
	TrackDescription = 14 // description
)

// The fields of ProcessDescriptor.
const (
	ProcessPid     = 1 // pid
	ProcessCommand = 2 // cmdline
	ProcessName    = 6 // process_name
	ProcessStart   = 7 // start_timestamp_ns
	ProcessLabel   = 8 // process_labels
)

// The fields of ThreadDescriptor.
const (
	ThreadPid  = 1 // pid
	ThreadTid  = 2 // tid
	ThreadName = 5 // thread_name
)

// The fields of CounterDescriptor.
const (
	CounterUnit     = 3 // unit
	CounterUnitName = 6 // unit_name
)

// Values of CounterUnit.
const (
	UnitNanoseconds = 1
	UnitCount       = 2
	UnitBytes       = 3
)

// The fields of TrackEvent.
const (
	EventCategory        = 3  // category_iids
	EventAnnotation      = 4  // debug_annotations
	EventType            = 9  // type
	EventNameID          = 10 // name_iid
	EventTrack           = 11 // track_uuid
	EventLog             = 21 // log_message
	EventName            = 23 // name
	EventCounterValue    = 30 // counter_value
	EventDoubleValue     = 44 // double_counter_value
	EventFlow            = 47 // flow_ids
	EventTerminatingFlow = 48 // terminating_flow_ids
	EventCallstack       = 56 // callstack_iid
)

// Values of EventType.
const (
	SliceBegin = 1
	SliceEnd   = 2
	Instant    = 3
	Counter    = 4
)

// The fields of DebugAnnotation, of which there is one besides the name.
const (
	AnnotationNameID  = 1  // name_iid
	AnnotationBool    = 2  // bool_value
	AnnotationUint    = 3  // uint_value
	AnnotationInt     = 4  // int_value
	AnnotationDouble  = 5  // double_value
	AnnotationString  = 6  // string_value
	AnnotationPointer = 7  // pointer_value
	AnnotationName    = 10 // name
	AnnotationDict    = 11 // dict_entries
	AnnotationArray   = 12 // array_values
)

// The fields of LogMessage.
const (
	LogBody     = 2 // body_iid
	LogPriority = 3 // prio
)

// Values of LogPriority.
const (
	LogInfo  = 4
	LogWarn  = 5
	LogError = 6
)

// The fields of InternedData.
const (
	InternedCategory       = 1  // event_categories
	InternedEventName      = 2  // event_names
	InternedAnnotationName = 3  // debug_annotation_names
	InternedFunction       = 5  // function_names
	InternedFrame          = 6  // frames
	InternedCallstack      = 7  // callstacks
	InternedBuildID        = 16 // build_ids
	InternedPath           = 17 // mapping_paths
	InternedSource         = 18 // source_paths
	InternedMapping        = 19 // mappings
	InternedLogBody        = 20 // log_message_body
)

// The fields of InternedString, and of those that are called EventCategory, EventName, DebugAnnotationName and LogMessageBody.
const (
	InternedID   = 1 // iid
	InternedText = 2 // str
)

// The fields of Mapping.
const (
	MappingBuildID = 2 // build_id
	MappingPath    = 7 // path_string_ids
)

// The fields of Frame.
const (
	FrameFunction = 2 // function_name_id
	FrameMapping  = 3 // mapping_id
	FrameAddress  = 4 // rel_pc
	FrameSource   = 5 // source_path_iid
	FrameLine     = 6 // line_number
)

// The field of Callstack, the outermost frame first.
const CallstackFrame = 2 // frame_ids

// The fields of PerfSample.
const (
	SamplePid       = 2 // pid
	SampleTid       = 3 // tid
	SampleCallstack = 4 // callstack_iid
	SampleCPUMode   = 5 // cpu_mode
)

// UserMode is a value of SampleCPUMode.
const UserMode = 2

// The field of PerfSampleDefaults.
const SampleTimebase = 1 // timebase

// The fields of PerfEvents.Timebase.
const (
	TimebasePeriod  = 1  // period
	TimebaseCounter = 4  // counter
	TimebaseName    = 10 // name
)

// CPUClock is a value of TimebaseCounter, in nanoseconds.
const CPUClock = 1

// The fields of ProfilePacket.
const (
	ProfileDump  = 5 // process_dumps
	ProfileIndex = 7 // index
)

// The fields of ProfilePacket.ProcessHeapSamples.
const (
	DumpPid    = 1  // pid
	DumpSample = 2  // samples
	DumpTime   = 9  // timestamp
	DumpHeap   = 11 // heap_name
)

// The fields of ProfilePacket.HeapSample.
const (
	HeapCallstack  = 1 // callstack_id
	HeapAllocated  = 2 // self_allocated
	HeapFreed      = 3 // self_freed
	HeapTime       = 4 // timestamp
	HeapAllocCount = 5 // alloc_count
	HeapFreeCount  = 6 // free_count
)
