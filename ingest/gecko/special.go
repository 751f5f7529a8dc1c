package gecko

import (
	"slices"

	"gprof/stream"
)

// momentKeys are the members of a payload that are times, though no schema says
// so: the viewer moves them along with the marker.
var (
	momentKeys  = []string{"startTime", "endTime"}
	networkKeys = []string{
		"domainLookupStart", "domainLookupEnd", "connectStart", "tcpConnectEnd", "secureConnectionStart", "connectEnd",
		"requestStart", "responseStart", "responseEnd",
	}
)

// setKnown makes a field what the viewer's code takes it for, if it knows it
// without a schema.
func (f *field) setKnown(typ string, seen seen) bool {
	number := seen != 0 && seen&^(seenInteger|seenDecimal) == 0
	switch {
	case f.Name == windowKey && seen == seenInteger:
		f.Type, f.Format, f.how = stream.Int, stream.FormatWindow, asNumber
	case number && (slices.Contains(momentKeys, f.Name) || typ == "Network" && slices.Contains(networkKeys, f.Name)):
		f.Type, f.Format, f.how = stream.Int, stream.FormatTime, asTime
	case typ == "CompositorScreenshot" && f.Name == "url":
		f.Type, f.Format, f.Privacy, f.how = stream.Text, stream.FormatString, stream.PrivacySecret, asUnique
	case typ == "IPC" && f.Name == "otherPid":
		f.Type, f.Format, f.how = stream.Int, stream.FormatProcess, asID
	case typ == "GCMajor" && f.Name == "timings":
		f.Type, f.Format, f.how = stream.JSON, stream.FormatText, asMajor
	case typ == "GCSlice" && f.Name == "timings":
		f.Type, f.Format, f.how = stream.JSON, stream.FormatText, asSlice
	case typ == "GCMinor" && f.Name == "nursery":
		f.Type, f.Format, f.how = stream.JSON, stream.FormatText, asMinor
	default:
		return false
	}
	return true
}
