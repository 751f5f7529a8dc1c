package recorder_test

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gprof/chunks"
	"gprof/rawformat"
)

// entry is the content of a block.
type entry struct {
	kind rawformat.Kind
	args []rawformat.Arg
	id   uint64 // of a marker's event
	dur  uint64 // of an interval
	at   uint64 // ns of CLOCK_MONOTONIC
	by   uint64 // goroutine of the context
	what uint64 // scope of a pause

	start uint64 // where the goroutine of the context began
	track uint64 // of the context

	shift int64 // of a placed marker
	phase rawformat.Phase
}

// recording is the content of an instance directory.
type recording struct {
	*chunks.Process
	entries []entry
	events  map[string]uint64 // id of the first event of each name
	kinds   map[rawformat.Kind]int
}

// read reads an instance directory. Problems other than those in want fail the test.
func read(t *testing.T, dir string, want ...chunks.ProblemClass) *recording {
	t.Helper()
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		t.Fatal(err)
	}
	r := &recording{Process: p, events: map[string]uint64{}, kinds: map[rawformat.Kind]int{}}
	report := func(problem chunks.Problem) {
		for _, class := range want {
			if problem.Class == class {
				return
			}
		}
		t.Errorf("problem: %v", problem)
	}
	for _, problem := range p.Problems {
		report(problem)
	}
	r.readDict()
	blocks := p.Blocks(report)
	var time uint64
	var of entry // the context
	for blocks.Next() {
		b := blocks.Block()
		r.add(b.Kind, b.Fields, &time, &of)
	}
	if err := blocks.Err(); err != nil {
		t.Fatal(err)
	}
	r.toNanoseconds()
	// The markers of one goroutine lie in the chunks of several writers.
	slices.SortStableFunc(r.entries, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	return r
}

// toNanoseconds converts times and durations from ticks of the counter, if they are, by the two
// anchors in headers that are farthest apart. Programs use package decode instead.
func (r *recording) toNanoseconds() {
	var first, last rawformat.Anchor
	for _, im := range r.Chunks {
		for _, a := range []rawformat.Anchor{im.Header.Open, im.Header.Close} {
			if a.TSC != 0 && (first.TSC == 0 || a.TSC < first.TSC) {
				first = a
			}
			if a.TSC > last.TSC {
				last = a
			}
		}
	}
	if first.TSC == last.TSC { // they are in ns, or there is only one anchor
		return
	}
	rate := float64(last.Monotonic-first.Monotonic) / float64(last.TSC-first.TSC)
	for i := range r.entries {
		e := &r.entries[i]
		e.at = first.Monotonic + uint64(int64(float64(int64(e.at-first.TSC))*rate))
		e.dur = uint64(float64(e.dur) * rate)
		e.shift = int64(float64(e.shift) * rate)
	}
}

func (r *recording) readDict() {
	for _, d := range r.Dicts {
		for _, rec := range d.All(nil) {
			r.kinds[rec.Kind]++
			if rec.Kind == rawformat.KindDefEvent {
				c := rawformat.NewCursor(rec.Body, 0)
				id, _, name := c.Uint("id"), c.Uint("category"), string(c.Text("name"))
				if _, ok := r.events[name]; !ok {
					r.events[name] = id
				}
			}
		}
	}
}

func (r *recording) add(k rawformat.Kind, c rawformat.Cursor, time *uint64, of *entry) {
	r.kinds[k]++
	e := entry{kind: k}
	for _, f := range rawformat.Kinds[k].Fields {
		switch {
		case f.Name == "time" && f.Type == rawformat.Uint:
			*time = c.Uint("time")
		case f.Type.TimeUnit() != 0:
			*time += uint64(c.Sint("time")) * f.Type.TimeUnit()
		case f.Name == "event":
			e.id = c.Uint("event")
		case f.Name == "duration":
			e.dur = c.Uint("duration")
		case f.Name == "shift":
			e.shift = c.Sint("shift")
		case f.Name == "phase":
			e.phase = rawformat.Phase(c.Uint("phase"))
		case f.Name == "what":
			e.what = c.Uint("what")
		case f.Type == rawformat.ArgSet:
			e.args = c.Args(nil, "args")
			for i := range e.args {
				e.args[i].Text = slices.Clone(e.args[i].Text) // because it is only valid until Next
			}
		case f.Type == rawformat.PCs:
			c.PCs(nil, "pcs")
		case f.Type == rawformat.Text:
			c.Text(f.Name)
		case f.Type == rawformat.Sint:
			c.Sint(f.Name)
		case f.Name == "goroutine" && (k == rawformat.KindSync || k == rawformat.KindContext):
			of.by, of.start = c.Uint(f.Name), 0
		case f.Name == "track" && (k == rawformat.KindSync || k == rawformat.KindContext):
			of.track = c.Uint(f.Name)
		case f.Name == "start":
			of.start = c.Uint(f.Name)
		default:
			c.Uint(f.Name)
		}
	}
	e.at, e.by, e.start, e.track = *time, of.by, of.start, of.track
	r.entries = append(r.entries, e)
}

// of returns the markers of an event in the order of the recording.
func (r *recording) of(name string) (found []entry) {
	for _, e := range r.entries {
		if id, ok := r.events[name]; ok && e.id == id {
			found = append(found, e)
		}
	}
	return found
}

// definitionsOf returns the records that define an event, with ids replaced by N and C.
func (r *recording) definitionsOf(id uint64) (lines []string) {
	for _, d := range r.Dicts {
		for _, rec := range d.All(nil) {
			line := string(rawformat.FormatBlock(nil, append([]byte{byte(rec.Kind)}, rec.Body...)))
			for _, prefix := range []string{"def-event id=", "def-show event=", "def-graph event=", "def-field event="} {
				if rest, ok := strings.CutPrefix(line, prefix+strconv.FormatUint(id, 10)+" "); ok {
					lines = append(lines, category.ReplaceAllString(prefix+"N "+rest, "category=C"))
				}
			}
		}
	}
	return lines
}

var (
	category  = regexp.MustCompile(`category=[1-9]\d*`)
	counterID = regexp.MustCompile(`id=\d+`)
)
