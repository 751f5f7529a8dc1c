package gecko

import (
	"bytes"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// Before a list of categories came with the profile (Gecko 11, processed 15), a
// category was a bit, and the viewer knew these.
var (
	oldCategories = []stream.Category{
		{Name: "Idle", Color: "transparent"}, {Name: "Other", Color: "grey"}, {Name: "JavaScript", Color: "yellow"}, {Name: "Layout", Color: "purple"},
		{Name: "Graphics", Color: "green"}, {Name: "DOM", Color: "blue"}, {Name: "GC / CC", Color: "orange"}, {Name: "Network", Color: "lightblue"},
	}
	// oldBits are the meanings of the bits from firstOldBit on.
	oldBits = []string{"Other", "Layout", "JavaScript", "GC / CC", "GC / CC", "Network", "Graphics", "Other", "Other"}
)

const firstOldBit = 4

// oldCategory is the category of a bit, and whether the bit is known; 0 is none.
func oldCategory(n int64) (i int, known bool) {
	name, known := "Other", n == 0
	if bit := bits.TrailingZeros64(uint64(n)) - firstOldBit; n > 0 && bits.OnesCount64(uint64(n)) == 1 && bit >= 0 && bit < len(oldBits) {
		name, known = oldBits[bit], true
	}
	return slices.IndexFunc(oldCategories, func(c stream.Category) bool { return c.Name == name }), known
}

// categoryOfMarker is the category of markers that name none, by type, by the category of tracing
// markers, or by name.
var categoryOfMarker = map[string]string{
	"DOMEvent": "DOM", "Navigation::DOMComplete": "DOM", "Navigation::DOMInteractive": "DOM", "Navigation::Start": "DOM", "UserTiming": "DOM",
	"CC": "GC / CC", "GCMajor": "GC / CC", "GCMinor": "GC / CC", "GCSlice": "GC / CC",
	"Paint": "Graphics", "VsyncTimestamp": "Graphics", "CompositorScreenshot": "Graphics", "JS allocation": "JavaScript",
	"Styles": "Layout", "nsRefreshDriver::Tick waiting for paint": "Layout", "Navigation": "Network", "Network": "Network",
}

// oldCategory is the category of the row in a table without categories, -1 for none.
func (m *markerTable) oldCategory() int {
	key := m.name()
	if len(m.typ) > 0 {
		key = m.typ
	}
	if string(key) == "tracing" {
		key = jsonfile.AppendText(nil, parse(m.data()).raw("category"))
	}
	return slices.Index(m.r.categoryNames, categoryOfMarker[string(key)])
}

// retype gives the row the type that later versions give it:
//
//   - DiskIO was renamed to FileIO.
//   - DOM events had their own type in place of the marker's, and an interval in one row (until
//     Gecko 6 and 9).
//   - Some stored their type as a category, or not at all (until Gecko 12).
func (m *markerTable) retype() {
	m.typeIs = "type"
	name := string(m.name())
	switch typ := string(m.typ); {
	case typ == "DiskIO":
		m.typ = append(m.typ[:0], "FileIO"...)
	case name == "DOMEvent" && m.old() && typ != "" && typ != "tracing" && typ != "DOMEvent":
		m.typ, m.typeIs = append(m.typ[:0], name...), "eventType"
	case typ == "" && m.data() != nil && (name == "VsyncTimestamp" || name == "LayerTranslation" || name == "CompositorScreenshot"):
		m.typ, m.typeIs = append(m.typ[:0], name...), "category"
	}
}

// oldSchemas are the viewer's built-in schemas for profiles before Gecko 22, which brought none.
// The viewer knows more about network and IPC markers still.
var oldSchemas = []string{
	`{"name":"GCMajor","display":["marker-chart","marker-table","timeline-memory"],"data":[]}`,
	`{"name":"GCMinor","display":["marker-chart","marker-table","timeline-memory"],"data":[]}`,
	`{"name":"GCSlice","display":["marker-chart","marker-table","timeline-memory"],"data":[]}`,
	`{"name":"CC","tooltipLabel":"Cycle Collect","display":["marker-chart","marker-table","timeline-memory"],"data":[]}`,
	`{"name":"FileIO","display":["marker-chart","marker-table","timeline-fileio"],"data":[{"key":"operation","label":"Operation","format":"string","searchable":true},
		{"key":"source","label":"Source","format":"string","searchable":true},{"key":"filename","label":"Filename","format":"file-path","searchable":true}]}`,
	`{"name":"MediaSample","display":["marker-chart","marker-table"],"data":[{"key":"sampleStartTimeUs","label":"Sample start time","format":"microseconds"},
		{"key":"sampleEndTimeUs","label":"Sample end time","format":"microseconds"}]}`,
	`{"name":"Styles","display":["marker-chart","marker-table","timeline-overview"],"data":[{"key":"elementsTraversed","label":"Elements traversed","format":"integer"},
		{"key":"elementsStyled","label":"Elements styled","format":"integer"},{"key":"elementsMatched","label":"Elements matched","format":"integer"},
		{"key":"stylesShared","label":"Styles shared","format":"integer"},{"key":"stylesReused","label":"Styles reused","format":"integer"}]}`,
	`{"name":"PreferenceRead","display":["marker-chart","marker-table"],"data":[{"key":"prefName","label":"Name","format":"string"},{"key":"prefKind","label":"Kind","format":"string"},
		{"key":"prefType","label":"Type","format":"string"},{"key":"prefValue","label":"Value","format":"string"}]}`,
	`{"name":"UserTiming","tooltipLabel":"{marker.data.name}","chartLabel":"{marker.data.name}","tableLabel":"{marker.data.name}","display":["marker-chart","marker-table"],
		"data":[{"key":"entryType","label":"Entry type","format":"string"},{"label":"Description","value":"A mark or a measure that the page took itself, by performance.mark() or performance.measure()."}]}`,
	`{"name":"Text","tableLabel":"{marker.name} — {marker.data.name}","chartLabel":"{marker.name} — {marker.data.name}","display":["marker-chart","marker-table"],
		"data":[{"key":"name","label":"Details","format":"string","searchable":true}]}`,
	`{"name":"Log","display":["marker-table"],"tableLabel":"({marker.data.module}) {marker.data.name}","data":[{"key":"module","label":"Module","format":"string","searchable":true},
		{"key":"name","label":"Name","format":"string","searchable":true}]}`,
	`{"name":"DOMEvent","tooltipLabel":"{marker.data.eventType} — DOMEvent","tableLabel":"{marker.data.eventType}","chartLabel":"{marker.data.eventType}",
		"display":["marker-chart","marker-table","timeline-overview"],"data":[{"key":"latency","label":"Latency","format":"duration"},
		{"key":"eventType","label":"Event type","format":"string","searchable":true}]}`,
	`{"name":"tracing","display":["marker-chart","marker-table","timeline-overview"],"data":[{"key":"category","label":"Type","format":"string","searchable":true}]}`,
}

// setOldSymbols sets the symbol names of a library that later versions (Gecko 4, processed 2) have.
func setOldSymbols(o object) {
	if !o.has("debugName") {
		o.members["debugName"] = o.raw("pdbName")
	}
	if o.has("breakpadId") || !o.has("pdbSignature") {
		return
	}
	if signature := strings.NewReplacer("{", "", "}", "", "-", "").Replace(o.text("pdbSignature")); signature != "" {
		o.members["breakpadId"] = []byte(strconv.Quote(strings.ToUpper(signature) + string(o.raw("pdbAge"))))
	}
}

// Before frames said whether they are script-related (Gecko 14, processed 17), the viewer knew by
// the names of script entry points and of the page functions they call.
var (
	entered = []byte("AutoEntryScript ")
	called  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(get |set )?\w+(\.\w+| constructor)$`) })
)

const (
	firstScripted          = 14
	firstScriptedProcessed = 17
)

// oldLabel is the viewer's name for a label, and whether it is shown with script frames.
func (r *reader) oldLabel(name []byte) (now []byte, scripted bool) {
	if !r.unscripted {
		return name, false
	}
	if rest, ok := bytes.CutPrefix(name, entered); ok {
		return rest, true
	}
	return name, called().Match(name)
}

func (l *layout) isUnscripted() bool {
	return l.olderThan(firstScripted, firstScriptedProcessed)
}

func (l *layout) hasUnplacedScripts() bool { return l.olderThan(0, firstPlaced) }

// olderThan compares the version with that of its format.
func (l *layout) olderThan(gecko, processed int64) bool {
	if l.processed() {
		return l.version() < processed
	}
	return l.version() < gecko
}

// firstPlaced is the processed version from which on script functions have their place beside the
// name instead of in it.
const firstPlaced = 4

// placeScript sets the name and place of a script function from such a name, and reports whether it
// did. Code outside functions is named after its place, as in the viewer.
func (r *reader) placeScript(f *stream.Frame, name []byte) bool {
	l, ok := parseScript(name)
	if !r.unplacedScripts || !f.Script || !ok {
		return false
	}
	f.File, f.Start, f.StartColumn = r.intern(l.place), l.line, l.column
	if f.Function = f.File; len(l.name) > 0 {
		f.Function = r.intern(l.name)
	}
	return true
}

func (r *reader) readOldSchemas() {
	for _, text := range oldSchemas {
		o := parse([]byte(text))
		r.survey.schemas[o.text("name")] = r.schema(o)
	}
}
