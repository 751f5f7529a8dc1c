package pprof

// The fields of the messages of
// https://github.com/google/pprof/blob/main/proto/profile.proto.
const (
	profileSampleType  = 1
	profileSample      = 2
	profileMapping     = 3
	profileLocation    = 4
	profileFunction    = 5
	profileString      = 6
	profileDrop        = 7
	profileKeep        = 8
	profileTime        = 9
	profileDuration    = 10
	profilePeriodType  = 11
	profilePeriod      = 12
	profileComment     = 13
	profileDefaultType = 14
	profileDoc         = 15

	valueType = 1
	valueUnit = 2

	sampleLocations = 1
	sampleValues    = 2
	sampleLabel     = 3

	labelKey    = 1
	labelText   = 2
	labelNumber = 3
	labelUnit   = 4

	mappingID     = 1
	mappingStart  = 2
	mappingLimit  = 3
	mappingOffset = 4
	mappingFile   = 5
	mappingBuild  = 6

	locationID      = 1
	locationMapping = 2
	locationAddress = 3
	locationLine    = 4

	lineFunction = 1
	lineNumber   = 2

	functionID     = 1
	functionName   = 2
	functionSystem = 3
	functionFile   = 4
	functionStart  = 5
)

// fieldWires says which wire types a field of a profile may have, as bits.
var fieldWires = [...]uint8{
	profileSampleType: 1 << wireBytes, profileSample: 1 << wireBytes, profileMapping: 1 << wireBytes, profileLocation: 1 << wireBytes,
	profileFunction: 1 << wireBytes, profileString: 1 << wireBytes, profileDrop: 1 << wireVarint, profileKeep: 1 << wireVarint,
	profileTime: 1 << wireVarint, profileDuration: 1 << wireVarint, profilePeriodType: 1 << wireBytes, profilePeriod: 1 << wireVarint,
	profileComment: 1<<wireVarint | 1<<wireBytes, profileDefaultType: 1 << wireVarint, profileDoc: 1 << wireVarint,
}

// known says whether a field is one of a profile, laid out as such.
func (v *field) known() bool {
	return v.number < len(fieldWires) && fieldWires[v.number]>>v.wire&1 != 0
}
