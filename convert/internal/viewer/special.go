package viewer

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// specialTypes are the types that the viewer has code for.
var specialTypes = []string{
	"Network", "IPC", "CompositorScreenshot", "CompositorScreenshotWindowDestroyed", "GCSlice", "GCMajor", "GCMinor",
	"JS allocation", "Native allocation", "Log", "FileIO", "Text", "UserTiming", "tracing", "Jank", "BHR-detected hang",
	"PreferenceRead", "Styles", "DOMEvent", "VisualMetricProgress", "NoPayloadUserData",
}

// IsSpecial reports whether the viewer has code for a type. Events that did not ask for such a type
// get another name.
func IsSpecial(typ string) bool { return slices.Contains(specialTypes, typ) }

// isOtherKind reports whether the viewer makes rows of another kind of a type's markers, which we
// write as such.
func isOtherKind(typ string) bool { return typ == "Native allocation" || typ == "Jank" }

// plainName replaces a special type where the viewer is not to run its code.
func plainName(typ string) string { return "gprof." + typ }

// needs is what the viewer requires of a type's markers. Otherwise the profile, or a view of it,
// does not open.
type needs struct {
	phases []stream.Phase // one of these; none: any
	fields []neededField
}

type neededField struct {
	arg int // -1: none suits
	ok  func(c *stream.Column, i int) bool
}

// fieldNeed is a field of a special type that the viewer's code reads.
type fieldNeed struct {
	key   string
	value valueKind
	ok    func(c *stream.Column, i int) bool
}

var (
	withStart = []stream.Phase{stream.Instant, stream.Interval, stream.PhaseStart}

	requirements = map[string]struct {
		phases []stream.Phase
		fields []fieldNeed
	}{
		"Network":              {[]stream.Phase{stream.Interval}, []fieldNeed{{"URI", valueText, isText}, {"status", valueText, isText}, {"startTime", valueTime, isNumber}}},
		"IPC":                  {nil, []fieldNeed{{"startTime", valueTime, isNumber}}},
		"CompositorScreenshot": {withStart, []fieldNeed{{"url", valueUnique, isTextOrNone}}},
		"JS allocation":        {withStart, nil},
		"GCMajor":              {nil, []fieldNeed{{timingsKey, valueText, isMajor}}},
		"GCSlice":              {nil, []fieldNeed{{timingsKey, valueText, isSlice}}},
		"GCMinor":              {nil, []fieldNeed{{nurseryKey, valueText, isMinor}}},
	}
)

// special resolves what the viewer needs of the type.
func (m *MarkerType) special(dialect Dialect) {
	required, ok := requirements[m.Name]
	if !ok {
		return
	}
	m.needs.phases = required.phases
	for _, r := range required.fields {
		n := neededField{-1, r.ok}
		for i := range m.fields {
			f := &m.fields[i]
			if f.name == r.key && f.listed == nil && r.value == valueUnique {
				f.value = r.value // the viewer's code looks the string up
			}
			if f.name == r.key && f.value == r.value {
				n.arg = f.arg
				f.value = detailsOf(dialect, f, r.key)
			}
		}
		m.needs.fields = append(m.needs.fields, n)
	}
}

// detailsOf is the encoding of a required field. A listed one is shown by the viewer, unless it is
// hidden, as Firefox's are.
func detailsOf(dialect Dialect, f *field, key string) valueKind {
	switch hidden := f.listed == nil || f.listed.Hidden; {
	case dialect == Gecko && key == timingsKey:
		return valueTimings
	case hidden && (key == timingsKey || key == nurseryKey):
		return valueDetails
	}
	return f.value
}

// fulfilled reports whether row i has what the viewer needs.
func (n *needs) fulfilled(b *stream.Batch, i int) bool {
	if len(n.phases) > 0 && !slices.Contains(n.phases, b.Phase[i]) {
		return false
	}
	for _, f := range n.fields {
		if f.arg < 0 || !f.ok(&b.Args[f.arg], i) {
			return false
		}
	}
	return true
}

func isText(c *stream.Column, i int) bool { return c.TypeAt(i) == stream.Text }

func isTextOrNone(c *stream.Column, i int) bool {
	return c.TypeAt(i) == stream.Text || c.TypeAt(i) == stream.Null
}

func isNumber(c *stream.Column, i int) bool {
	t := c.TypeAt(i)
	return t == stream.Int || t == stream.Uint || t == stream.Float && finite(math.Float64frombits(c.BitsAt(i)))
}

// timingsKey is the field of a collection's details, phasesKey the durations of its phases, in µs.
const (
	timingsKey = "timings"
	nurseryKey = "nursery"
	phasesKey  = "phase_times"
)

// collection is what the viewer's code reads of a collection's details.
type collection struct {
	Status string             `json:"status"`
	Phases map[string]float64 `json:"phase_times"`
}

func collectionAt(c *stream.Column, i int) (details collection, ok bool) {
	if c.TypeAt(i) != stream.JSON {
		return details, false
	}
	text := bytes.TrimSpace(c.TextAt(i))
	return details, bytes.HasPrefix(text, []byte("{")) && json.Unmarshal(text, &details) == nil
}

func isMajor(c *stream.Column, i int) bool {
	details, ok := collectionAt(c, i)
	return ok && (details.Status == "aborted" || details.Status == "completed" && details.Phases != nil)
}

func isSlice(c *stream.Column, i int) bool {
	details, ok := collectionAt(c, i)
	return ok && details.Phases != nil
}

func isMinor(c *stream.Column, i int) bool {
	details, ok := collectionAt(c, i)
	return c.TypeAt(i) == stream.Null || ok && (details.Status != "complete" || details.Phases != nil)
}

// appendTimings appends the details of a collection as in Gecko's format: phase times in ms, under
// another key, and shares in percent.
func appendTimings(dst, details []byte) []byte {
	var whole struct {
		Status string `json:"status"`
	}
	json.Unmarshal(details, &whole)
	phases := "times"
	if whole.Status != "" {
		phases = "totals"
	}
	return appendMembers(dst, details, func(dst []byte, key string, value json.RawMessage) []byte {
		switch key {
		case phasesKey:
			dst = jsontext.AppendString(dst, phases)
			return appendMembers(append(dst, ':'), value, func(dst []byte, key string, value json.RawMessage) []byte {
				return appendShifted(append(jsontext.AppendString(dst, key), ':'), value, -3)
			})
		case "mmu_20ms", "mmu_50ms":
			return appendShifted(append(jsontext.AppendString(dst, key), ':'), value, 2)
		}
		return append(append(jsontext.AppendString(dst, key), ':'), value...)
	})
}

// appendMembers appends an object of what each makes of the members of another.
func appendMembers(dst, object []byte, each func(dst []byte, key string, value json.RawMessage) []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return append(dst, object...)
	}
	dst = append(dst, '{')
	for d.More() {
		key, _ := d.Token()
		var value json.RawMessage
		name, ok := key.(string)
		if !ok || d.Decode(&value) != nil {
			break
		}
		dst = append(each(dst, name, value), ',')
	}
	return append(bytes.TrimSuffix(dst, []byte{','}), '}')
}

// appendShifted appends a number times a power of ten. It shifts the text's exponent, because a
// product would be rounded twice.
func appendShifted(dst []byte, number json.RawMessage, digits int) []byte {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(string(number)), "e")
	n, _ := strconv.Atoi(exponent)
	f, err := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(n+digits), 64)
	if err != nil || !finite(f) {
		return append(dst, number...)
	}
	return jsontext.AppendFloat(dst, f)
}
