package gecko

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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
func (f *field) setKnown(typ string, seen seen, gecko bool) bool {
	number := seen != 0 && seen&^(seenInteger|seenDecimal) == 0
	switch {
	case f.Name == windowKey && seen == seenInteger:
		f.Type, f.Format, f.how = stream.Int, stream.FormatWindow, asNumber
	case number && (slices.Contains(momentKeys, f.Name) || typ == "Network" && slices.Contains(networkKeys, f.Name)):
		f.Type, f.Format, f.how = stream.Int, stream.FormatTime, asTime
	case typ == "CompositorScreenshot" && f.Name == "url":
		f.Type, f.Format, f.Privacy, f.how = stream.Text, stream.FormatString, stream.PrivacySecret, asUnique
	case gecko && (typ == "GCMajor" || typ == "GCSlice") && f.Name == "timings":
		f.Type, f.Format, f.how = stream.JSON, stream.FormatText, asTimings
	default:
		return false
	}
	return true
}

// compact appends a value without spaces between its parts, as valid UTF-8.
func compact(dst, raw []byte) []byte {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\ufffd"))
	}
	out := bytes.NewBuffer(dst)
	if json.Compact(out, raw) != nil {
		return append(dst, "null"...)
	}
	return out.Bytes()
}

// appendTimings appends the details of a collection as a processed profile has
// them: times of phases in µs, shares as parts of 1.
func appendTimings(dst, raw []byte) []byte {
	if !bytes.HasPrefix(raw, []byte("{")) {
		return compact(dst, raw)
	}
	begin := len(dst)
	dst = append(dst, '{')
	members(raw, func(key, value []byte) {
		if len(dst) > begin+1 {
			dst = append(dst, ',')
		}
		switch string(key) {
		case "times", "totals":
			dst = append(dst, `"phase_times":`...)
			dst = appendMicros(dst, value)
		case "mmu_20ms", "mmu_50ms":
			dst = appendShifted(appendKey(dst, key), value, -2)
		default:
			dst = compact(appendKey(dst, key), value)
		}
	})
	return append(dst, '}')
}

// appendMicros appends an object of numbers of ms as one of µs.
func appendMicros(dst, raw []byte) []byte {
	if !bytes.HasPrefix(raw, []byte("{")) {
		return compact(dst, raw)
	}
	dst = append(dst, '{')
	members(raw, func(key, value []byte) {
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = appendShifted(appendKey(dst, key), value, 3)
	})
	return append(dst, '}')
}

func appendKey(dst, key []byte) []byte {
	text, _ := json.Marshal(string(key))
	return append(append(dst, text...), ':')
}

// appendShifted appends a number times a power of ten. The text is read so, for a
// product would be rounded twice.
func appendShifted(dst, raw []byte, digits int) []byte {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(string(raw)), "e")
	n, _ := strconv.Atoi(exponent)
	f, err := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(n+digits), 64)
	if err != nil {
		return compact(dst, raw)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}
