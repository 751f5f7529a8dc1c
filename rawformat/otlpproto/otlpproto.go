// Package otlpproto has the messages of OpenTelemetry's profiles, shared by their reader and writer: the numbers of
// their fields, and their names and types in JSON.
//
// The state of the specification is opentelemetry-proto 1.11.0 of 2026-07-21, package
// opentelemetry.proto.profiles.v1development, in which profiles are Alpha: a later one may change what a number means. The
// development version that senders of profiles state is [DevelopmentVersion].
//
// See https://github.com/open-telemetry/opentelemetry-proto.
package otlpproto

// The development version of the messages, which a request states in a header. Without that it is 1.
const (
	DevelopmentVersion       = "1"
	DevelopmentVersionHeader = "Otlp-Profiles-Development-Version"
)

// The fields of ProfilesData, the message that a file is, and of a request, ExportProfilesServiceRequest.
const (
	DataResource   = 1
	DataDictionary = 2
)

// The fields of ProfilesDictionary, the tables that the other messages refer to. The first row of each
// is empty and means none.
const (
	DictionaryMapping   = 1
	DictionaryLocation  = 2
	DictionaryFunction  = 3
	DictionaryLink      = 4
	DictionaryString    = 5
	DictionaryAttribute = 6
	DictionaryStack     = 7
)

// The fields of ResourceProfiles: profiles of one process, as a rule.
const (
	ResourceProfilesResource = 1
	ResourceProfilesScope    = 2
	ResourceProfilesSchema   = 3
)

// The fields of ScopeProfiles: profiles of one profiler.
const (
	ScopeProfilesScope   = 1
	ScopeProfilesProfile = 2
	ScopeProfilesSchema  = 3
)

// The fields of Profile: samples with values of one type.
const (
	ProfileType           = 1
	ProfileSample         = 2
	ProfileTime           = 3
	ProfileDuration       = 4
	ProfilePeriodType     = 5
	ProfilePeriod         = 6
	ProfileID             = 7
	ProfileDropped        = 8
	ProfileOriginalFormat = 9
	ProfileOriginal       = 10
	ProfileAttributes     = 11
)

// The fields of Sample: what was seen of one stack, attributes and link. There are as many values as
// times if there are both.
const (
	SampleStack      = 1
	SampleAttributes = 2
	SampleLink       = 3
	SampleValues     = 4
	SampleTimes      = 5
)

// The fields of ValueType.
const (
	TypeName = 1
	TypeUnit = 2
)

// The fields of Mapping.
const (
	MappingStart      = 1
	MappingLimit      = 2
	MappingOffset     = 3
	MappingFile       = 4
	MappingAttributes = 5
)

// The field of Stack, the innermost location first.
const StackLocations = 1

// The fields of Location.
const (
	LocationMapping    = 1
	LocationAddress    = 2
	LocationLine       = 3
	LocationAttributes = 4
)

// The fields of Line, the innermost function first.
const (
	LineFunction = 1
	LineNumber   = 2
	LineColumn   = 3
)

// The fields of Function.
const (
	FunctionName   = 1
	FunctionSystem = 2
	FunctionFile   = 3
	FunctionStart  = 4
)

// The fields of Link, to a span of a trace.
const (
	LinkTrace = 1
	LinkSpan  = 2
)

// The fields of KeyValueAndUnit, an attribute in the dictionary.
const (
	AttributeKey   = 1
	AttributeValue = 2
	AttributeUnit  = 3
)

// The fields of Resource, and of InstrumentationScope.
const (
	ResourceAttribute = 1
	ScopeName         = 1
	ScopeVersion      = 2
)

// The fields of KeyValue. The key may be in the dictionary.
const (
	KeyName  = 1
	KeyValue = 2
	KeyRef   = 3
)

// The fields of AnyValue, of which there is one. A text may be in the dictionary.
const (
	ValueString    = 1
	ValueBool      = 2
	ValueInt       = 3
	ValueDouble    = 4
	ValueArray     = 5
	ValueList      = 6
	ValueBytes     = 7
	ValueStringRef = 8
)

// The field of ArrayValue, and of KeyValueList.
const ListValue = 1

// The fields of ExportProfilesServiceResponse, and of the partial success in it.
const (
	ResponsePartial = 1
	PartialRejected = 1
	PartialMessage  = 2
)
