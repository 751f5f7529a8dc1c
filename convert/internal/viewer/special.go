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

// specialTypes are the types for which the viewer has code of its own.
var specialTypes = []string{
	"Network", "IPC", "CompositorScreenshot", "CompositorScreenshotWindowDestroyed", "GCSlice", "GCMajor", "GCMinor",
	"JS allocation", "Native allocation", "Log", "FileIO", "Text", "UserTiming", "tracing", "Jank", "BHR-detected hang",
	"PreferenceRead", "Styles", "DOMEvent", "VisualMetricProgress", "NoPayloadUserData",
}

// IsSpecial reports whether the viewer has code of its own for a type. Who does
// not ask for such a type gets another name.
func IsSpecial(typ string) bool { return slices.Contains(specialTypes, typ) }

// isOtherKind reports whether markers of a type become rows of another kind in
// the viewer, which we write as what they are.
func isOtherKind(typ string) bool { return typ == "Native allocation" || typ == "Jank" }

// plainName is the name of a type that stands for a special one, where the
// viewer is not to run its code.
func plainName(typ string) string { return "gprof." + typ }

// needs is what the viewer takes for granted in the markers of a type. Without
// it, the profile, or a view of it, does not open.
type needs struct {
	phases []stream.Phase // one of these; none is any
	fields []neededField
}

type neededField struct {
	arg int // -1: there is none that can be it
	ok  func(c *stream.Column, i int) bool
}

// requirement is a field of a special type, as the viewer's code reads it.
type requirement struct {
	key   string
	value valueKind
	ok    func(c *stream.Column, i int) bool
}

var (
	withStart = []stream.Phase{stream.Instant, stream.Interval, stream.PhaseStart}

	requirements = map[string]struct {
		phases []stream.Phase
		fields []requirement
	}{
		"Network":              {[]stream.Phase{stream.Interval}, []requirement{{"URI", valueText, isText}, {"status", valueText, isText}, {"startTime", valueTime, isNumber}}},
		"IPC":                  {nil, []requirement{{"startTime", valueTime, isNumber}}},
		"CompositorScreenshot": {withStart, []requirement{{"url", valueUnique, isTextOrNone}}},
		"JS allocation":        {withStart, nil},
		"GCMajor":              {nil, []requirement{{timingsKey, valueText, isMajor}}},
		"GCSlice":              {nil, []requirement{{timingsKey, valueText, isSlice}}},
		"GCMinor":              {nil, []requirement{{nurseryKey, valueText, isMinor}}},
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

// detailsOf is how a required field is written. The viewer would show one that a schema
// lists, unless it is hidden, as those of Firefox are.
func detailsOf(dialect Dialect, f *field, key string) valueKind {
	switch hidden := f.listed == nil || f.listed.Hidden; {
	case dialect == Gecko && key == timingsKey:
		return valueTimings
	case hidden && (key == timingsKey || key == nurseryKey):
		return valueDetails
	}
	return f.value
}

// fulfilled reports whether row i is what the viewer needs.
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

// timingsKey is the field of a collection's details, phasesKey how long its
// phases took, in µs.
const (
	timingsKey = "timings"
	nurseryKey = "nursery"
	phasesKey  = "phase_times"
)

// collection is what the viewer's code looks at in the details of a collection.
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

// appendTimings appends the details of a collection as Gecko's format has them:
// times of phases are in ms and called otherwise, shares are in percent.
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

// appendShifted appends a number times a power of ten. The text is read so, for a
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
