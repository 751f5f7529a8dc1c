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
	default:
		return f.setCollection(typ)
	}
	return true
}

// setCollection makes a field the details of a collection of garbage, if it is that.
// Newer schemas call them strings, which they are not.
func (f *field) setCollection(typ string) bool {
	switch typ + "." + f.Name {
	case "GCMajor.timings":
		f.how = asMajor
	case "GCSlice.timings":
		f.how = asSlice
	case "GCMinor.nursery":
		f.how = asMinor
	default:
		return false
	}
	f.Type, f.Format = stream.JSON, stream.FormatText
	return true
}
