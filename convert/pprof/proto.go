package pprof

import "encoding/binary"

// The fields of the messages of
// https://github.com/google/pprof/blob/main/proto/profile.proto that are used.
const (
	profileSampleType  = 1
	profileSample      = 2
	profileMapping     = 3
	profileLocation    = 4
	profileFunction    = 5
	profileString      = 6
	profileTime        = 9
	profileDuration    = 10
	profilePeriodType  = 11
	profilePeriod      = 12
	profileComment     = 13
	profileDefaultType = 14

	valueType = 1
	valueUnit = 2

	sampleLocations = 1
	sampleValues    = 2
	sampleLabel     = 3

	labelKey    = 1
	labelText   = 2
	labelNumber = 3

	mappingID           = 1
	mappingStart        = 2
	mappingLimit        = 3
	mappingFile         = 5
	mappingBuild        = 6
	mappingHasFunctions = 7
	mappingHasFiles     = 8
	mappingHasLines     = 9
	mappingHasInlined   = 10

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

// Wire types: how the value of a field is laid out.
const (
	wireVarint = 0
	wireBytes  = 2
)

// appendNumber appends a field that is a number. 0 is what a missing one means.
func appendNumber(dst []byte, field int, n uint64) []byte {
	if n == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(field)<<3|wireVarint)
	return binary.AppendUvarint(dst, n)
}

func appendBool(dst []byte, field int, b bool) []byte {
	if !b {
		return dst
	}
	return appendNumber(dst, field, 1)
}

// appendBytes appends a field that is a string, a message, or packed numbers.
// An empty one is appended, too: it may be one of several.
func appendBytes[T string | []byte](dst []byte, field int, value T) []byte {
	dst = binary.AppendUvarint(dst, uint64(field)<<3|wireBytes)
	dst = binary.AppendUvarint(dst, uint64(len(value)))
	return append(dst, value...)
}
