// Package profileproto has the numbers of profile.proto, the format of github.com/google/pprof,
// shared by its reader and writer.
//
// See https://github.com/google/pprof/blob/main/proto/profile.proto.
package profileproto

// The fields of a Profile, the message that a file is.
const (
	ProfileSampleType  = 1
	ProfileSample      = 2
	ProfileMapping     = 3
	ProfileLocation    = 4
	ProfileFunction    = 5
	ProfileString      = 6
	ProfileDrop        = 7
	ProfileKeep        = 8
	ProfileTime        = 9
	ProfileDuration    = 10
	ProfilePeriodType  = 11
	ProfilePeriod      = 12
	ProfileComment     = 13
	ProfileDefaultType = 14
	ProfileDoc         = 15
)

// The fields of a ValueType.
const (
	ValueType = 1
	ValueUnit = 2
)

// The fields of a Sample.
const (
	SampleLocations = 1
	SampleValues    = 2
	SampleLabel     = 3
)

// The fields of a Label.
const (
	LabelKey    = 1
	LabelText   = 2
	LabelNumber = 3
	LabelUnit   = 4
)

// The fields of a Mapping.
const (
	MappingID           = 1
	MappingStart        = 2
	MappingLimit        = 3
	MappingOffset       = 4
	MappingFile         = 5
	MappingBuild        = 6
	MappingHasFunctions = 7
	MappingHasFiles     = 8
	MappingHasLines     = 9
	MappingHasInlined   = 10
)

// The fields of a Location.
const (
	LocationID      = 1
	LocationMapping = 2
	LocationAddress = 3
	LocationLine    = 4
)

// The fields of a Line.
const (
	LineFunction = 1
	LineNumber   = 2
)

// The fields of a Function.
const (
	FunctionID     = 1
	FunctionName   = 2
	FunctionSystem = 3
	FunctionFile   = 4
	FunctionStart  = 5
)
