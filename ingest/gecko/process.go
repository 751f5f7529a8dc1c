package gecko

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// parts reads what belongs to no thread.
func (r *reader) parts(x *process, id stream.ProcessID) {
	r.counters(x, id)
	r.pauses(x, id)
	r.overheads(x, id)
	r.logs(x, id)
	r.pages(x, id)
	if !r.processed() {
		r.sourceMaps(x)
	}
	for _, key := range []string{"jsTracerDictionary", "tasktracer"} {
		if x.at(key).v != nil && x == r.processes[0] {
			r.lose(stream.ReasonUnsupported, key, 1)
		}
	}
}

// sourceMaps counts the source maps, which the frames don't tell.
func (r *reader) sourceMaps(x *process) {
	t := x.table("sources", "sourceMapURL")
	for t.next() && !r.full() {
		r.unplaced(t, 0, "maps of sources")
	}
	r.ended(t, "sources")
}

// ofProcess are the elements of a list that belong to a process, which elements name in processed
// profiles.
func (r *reader) ofProcess(x *process, key string) (all []part) {
	if one := x.at(key); one.v.Is(jsonfile.Object) && !r.processed() {
		return []part{one}
	}
	for _, p := range x.list(key) {
		if p.is(jsonfile.Object) && (!r.processed() || r.owns(x, p)) {
			all = append(all, p)
		}
	}
	return all
}

// owns reports whether an element is of process x: by its pid, or in old versions by one of its
// threads.
func (r *reader) owns(x *process, p part) bool {
	if pid := p.plain("pid"); r.knows(pid) {
		return pid == x.pid
	} else if x == r.processes[0] && pid != "" {
		p.at("pid").note(stream.ReasonImpossible)
	}
	all, i := threadsOf(r.root.v), p.count("mainThreadIndex")
	if i >= int64(len(all)) {
		p.at("mainThreadIndex").note(stream.ReasonImpossible)
		return x == r.processes[0]
	}
	return slices.ContainsFunc(x.threads, func(t *thread) bool { return t.v == &all[i] })
}

func (r *reader) counters(x *process, id stream.ProcessID) {
	for _, v := range r.ofProcess(x, "counters") {
		row := r.counter(v)
		row.Process = id
		s := stream.Series{Process: id, Kind: stream.Counts, Counter: r.t.Counters.Intern(row)}
		r.counts(r.counted(v), s, row.Unit)
	}
}

// counted is the object that has a counter's samples, which used to be in groups.
func (r *reader) counted(v part) part {
	for _, key := range []string{"sample_groups", "sampleGroups"} {
		if group := v.at(key); group.v.Is(jsonfile.Object) { // a fault of Firefox before 71
			return group
		}
		groups := v.list(key)
		if n := len(groups) - 1; n > 0 {
			r.lose(stream.ReasonUnsupported, "further groups of counters", int64(n))
		}
		if len(groups) > 0 && groups[0].is(jsonfile.Object) {
			return groups[0]
		}
	}
	return v
}

// counter describes a counter: as our own sinks say, or as the viewer takes it.
func (r *reader) counter(v part) stream.Counter {
	c := stream.Counter{Name: v.text("name"), Category: v.text("category"), Description: v.text("description"), Total: true}
	if about := v.object("gprof"); about.v != nil {
		c.Category, c.Total, c.Own = about.text("category"), about.truth("total"), about.truth("own")
		unit := about.text("unit")
		known, ok := formats[unit]
		if c.Unit = known.format; unit == "pWh" {
			c.Unit = stream.FormatPicowatt
		} else if !ok && unit != "" {
			about.at("unit").note(stream.ReasonImpossible)
		}
		return c
	}
	display := v.object("display")
	unit, graph := display.text("unit"), display.text("graphType")
	switch {
	case c.Category == "Memory":
		c.Unit, c.Total = stream.FormatBytes, false
	case c.Category == "power":
		c.Unit = stream.FormatPicowatt
	case c.Category == "Bandwidth", unit == "bytes":
		c.Unit = stream.FormatBytes
	case unit == "percent":
		c.Unit = stream.FormatNanoseconds
	}
	switch graph {
	case "line-accumulated":
		c.Total = false
	case "", "line-rate":
	default:
		display.at("graphType").note(stream.ReasonImpossible)
	}
	return c
}

// counts reads the rows of a counter; each is a change.
func (r *reader) counts(v part, s stream.Series, unit stream.Format) {
	v.required("samples")
	t := v.table("samples", "time", "timeDeltas", "count", "number")
	digits := 0
	if unit == stream.FormatNanoseconds && r.processed() { // it is in ms
		digits = 6
	}
	var value, number int64
	at := stream.Time(0)
	for t.next() && !r.full() {
		if ns, ok := t.nanos(0); ok {
			at = stream.Time(ns)
		} else if next, ok := t.after(at, 1); ok {
			at = next
		} else {
			r.lose(stream.ReasonMalformed, "counter rows without a time", 1)
			continue
		}
		value, number = r.count(t, 2, value, digits), r.count(t, 3, number, 0)
		b := r.row(s, r.zero+at, r.zero+at)
		b.Value, b.Number = append(b.Value, value), append(b.Number, number)
	}
	r.ended(t, "counters")
}

// count adds a change to a counter's value; digits is the number of decimals that count.
func (r *reader) count(t *table, i int, before int64, digits int) int64 {
	n, ok := t.fixed(i, digits)
	if _, whole := jsonfile.Int(t.cells[i]); ok && !whole && digits == 0 {
		r.lose(stream.ReasonUnsupported, "fractions of counters", 1)
	}
	if sum := before + n; (sum > before) == (n > 0) {
		return sum
	}
	t.bad(stream.ReasonImpossible, i)
	return before
}

var pauseReasons = []string{stream.PausedAll: "profiler-paused", stream.PausedSampling: "sampling-paused", stream.PausedCollecting: "collecting"}

// pauses reads the ranges without recording, which processed profiles have in each thread.
func (r *reader) pauses(x *process, id stream.ProcessID) {
	owner := x.part
	if r.processed() {
		if owner = x.about; owner.at("pausedRanges").v == nil && len(x.threads) > 0 {
			owner = x.threads[0].part
		}
	}
	r.note(owner.objects("pausedRanges", func(o object) {
		reason := slices.Index(pauseReasons, o.text("reason"))
		if reason < 0 {
			r.lose(stream.ReasonUnsupported, "pauses for other reasons", 1)
			return
		}
		start, begins := o.nanos("startTime")
		end, ends := o.nanos("endTime")
		if begins && ends && end < start {
			o.note(stream.ReasonImpossible, "endTime")
		}
		if begins {
			r.pause(id, start, stream.PhaseStart, reason)
		}
		if ends {
			r.pause(id, end, stream.PhaseEnd, reason)
		}
	}))
}

func (r *reader) pause(id stream.ProcessID, ns int64, phase stream.Phase, reason int) {
	at := r.zero + stream.Time(ns)
	b := r.row(stream.Series{Process: id, Kind: stream.Pauses}, at, at)
	b.Phase, b.Duration = append(b.Phase, phase), append(b.Duration, 0)
	b.Value, b.Number = append(b.Value, int64(reason)), append(b.Number, 0)
}

// overheads reads the profiler's own cost in µs. In Gecko profiles its times are in µs, too.
func (r *reader) overheads(x *process, id stream.ProcessID) {
	digits := 3
	if r.processed() {
		digits = 6
	}
	for _, v := range r.ofProcess(x, "profilerOverhead") {
		t := v.table("samples", "time", "locking", "expiredMarkerCleaning", "counters", "threads")
		for t.next() && !r.full() {
			ns, ok := t.fixed(0, digits)
			if ok && ns > math.MaxInt64-r.file.zero {
				t.bad(stream.ReasonImpossible, 0)
				continue
			}
			if !ok {
				r.lose(stream.ReasonMalformed, "overheads without a time", 1)
				continue
			}
			at := r.zero + stream.Time(ns)
			b := r.row(stream.Series{Process: id, Kind: stream.Overheads}, at, at)
			for k := range b.Args {
				cost, ok := int64(0), k+1 < len(t.cells)
				if ok {
					cost, ok = t.fixed(k+1, 3)
				}
				if ok {
					b.Args[k].AppendBits(stream.Int, uint64(cost))
				} else {
					b.Args[k].AppendNull()
				}
			}
		}
		r.ended(t, "overheads")
	}
}

var logLevels = []string{stream.LogInfo: "info", stream.LogWarn: "warning", stream.LogError: "error"}

// logs reads what profiler and recorder logged about a process. Firefox's own objects are kept as
// text.
func (r *reader) logs(x *process, id stream.ProcessID) {
	for _, key := range []string{"profilingLog", "profileGatheringLog"} {
		all := x.object(key)
		for i := range all.v.Members() {
			m := &all.v.Members()[i]
			if m.Key != x.pid && (x != r.processes[0] || r.knows(m.Key)) {
				continue
			}
			switch of := (part{r.file, &m.Value, all.of}); {
			case m.Value.Get("log").Is(jsonfile.Array):
				r.ourLog(id, of)
				r.ourChunks(id, of)
			case m.Value.Get("ledger").Is(jsonfile.Array): // see ledgers
			default:
				r.log(id, r.t.Process(id).Start, stream.LogInfo, key+" of "+m.Key+": "+strings.TrimSpace(string(r.file.raw(&m.Value))))
			}
		}
	}
}

// knows reports whether there is a process of that pid.
func (r *reader) knows(pid string) bool { return r.pids[pid] }

func (r *reader) ourLog(id stream.ProcessID, of part) {
	r.note(of.objects("log", func(o object) {
		ns, _ := o.nanos("time")
		name := o.text("level")
		level := slices.Index(logLevels, name)
		if level < 0 {
			if level = int(number(name)); strconv.Itoa(level) != name {
				o.note(stream.ReasonImpossible, "level")
			}
		}
		r.log(id, r.zero+stream.Time(ns), int64(level), o.text("text"))
	}))
}

// maxUpdates bounds the memory for what became of chunks: no recording holds so many.
const maxUpdates = 1 << 20

// ourChunks reads what became of the chunks of a process. A row of no chunks is its end.
func (r *reader) ourChunks(id stream.ProcessID, of part) {
	updates := of.object("bufferGlobalController").at("updates")
	if !updates.is(jsonfile.Array) {
		return
	}
	p := r.t.Process(id)
	t := updates.listed("pid", "chunkRelease_TSms", "chunkDiff", "bytes")
	for t.next() && !r.full() {
		ns, ok := t.nanos(1)
		n, known := t.integer(2)
		bytes, _ := t.integer(3)
		switch {
		case !ok || !known || n == 0:
		case len(p.Chunks) == maxUpdates:
			r.lose(stream.ReasonUnsupported, "updates of chunks", 1)
		default:
			p.Chunks = append(p.Chunks, stream.ChunkChange{Time: r.zero + stream.Time(ns), Chunks: n, Bytes: bytes})
		}
	}
	r.ended(t, "updates of chunks")
}

func (r *reader) log(id stream.ProcessID, at stream.Time, level int64, text string) {
	b := r.row(stream.Series{Process: id, Kind: stream.Logs}, at, at)
	b.Value, b.Number = append(b.Value, level), append(b.Number, 0)
	b.Args[0].AppendText([]byte(text))
	r.texts += len(text)
}

// ledgers reads the ledger lines that one of our sinks wrote.
func (r *reader) ledgers() {
	gathered := r.root.object("profileGatheringLog")
	for i := range gathered.v.Members() {
		m := part{r.file, &gathered.v.Members()[i].Value, gathered.of}
		if !m.v.Get("ledger").Is(jsonfile.Array) { // it is Firefox's: see logs
			continue
		}
		r.note(m.objects("ledger", func(o object) {
			reason, known := stream.ReasonNamed(o.text("reason"))
			if !known {
				o.note(stream.ReasonImpossible, "reason")
			} else {
				r.t.Ledger.Add(stream.Line{Process: o.text("process"), Reason: reason, What: o.text("what"), Where: o.text("where"),
					Count: o.integer("count"), Bytes: o.integer("bytes")})
			}
		}))
	}
}

// pages reads the pages. Nothing says when they were open. In our own profiles each page of a list
// for several processes names its own; else all belong to the first.
func (r *reader) pages(x *process, id stream.ProcessID) {
	first := r.t.Process(id).Start
	r.note(x.objects("pages", func(o object) {
		if pid := o.text("pid"); r.processed() && pid != x.pid && (x != r.processes[0] || r.knows(pid)) {
			return
		}
		tab, window := r.identify(x.v, o)
		b := r.row(stream.Series{Process: id, Kind: stream.Pages}, first, first)
		b.Phase, b.Duration = append(b.Phase, stream.PhaseStart), append(b.Duration, 0)
		private := int64(0)
		if o.truth("isPrivateBrowsing") {
			private = 1
		}
		for k, n := range []int64{tab, window, o.integer("embedderInnerWindowID"), private} {
			b.Args[k].AppendBits(stream.Int, uint64(n))
		}
		b.Args[4].AppendText([]byte(o.text("url")))
		if !isNull(o.raw("favicon")) {
			r.lose(stream.ReasonUnsupported, "icons of pages", 1)
		}
	}))
}

// docshell identified a page until Gecko 16 and processed 27: a position in the history of a
// docshell, within the object that has the pages.
type docshell struct {
	of          *jsonfile.Value
	id, history string
}

// oldPages numbers such pages as the viewer does, which knows pages by one number.
type oldPages struct {
	windows map[docshell]int64
	tabs    map[docshell]int64 // without the position
}

// maxOldPages bounds the numbered pages; browsers keep some hundred.
const maxOldPages = 1 << 16

// docshellOf is the docshell in a page or a marker's payload, which use different keys.
func docshellOf(of *jsonfile.Value, o object, id, history string) (docshell, bool) {
	return docshell{of, o.text(id), string(o.raw(history))}, o.has(id) && o.has(history)
}

// numberPages numbers the old pages of an object.
func (r *reader) numberPages(of part) {
	old := &r.oldPages
	r.note(of.objects("pages", func(o object) {
		page, ok := docshellOf(of.v, o, "docshellId", "historyId")
		if !ok || len(old.windows) >= maxOldPages {
			return
		}
		if old.windows == nil {
			old.windows, old.tabs = map[docshell]int64{}, map[docshell]int64{}
		}
		enumerate(old.windows, page)
		page.history = ""
		enumerate(old.tabs, page)
	}))
}

// enumerate numbers a page that has no number yet.
func enumerate(known map[docshell]int64, page docshell) {
	if known[page] == 0 {
		known[page] = int64(len(known) + 1)
	}
}

// identify is the tab and window of a page.
func (r *reader) identify(of *jsonfile.Value, o object) (tab, window int64) {
	if page, ok := docshellOf(of, o, "docshellId", "historyId"); ok {
		window = r.oldPages.windows[page]
		page.history = ""
		return r.oldPages.tabs[page], window
	}
	return o.integer(firstOf(o, "tabID", "browsingContextID")), o.integer("innerWindowID")
}

// members are the payload members of the row, with the window in place of an old page reference.
func (m *markerTable) members() []jsonfile.Member {
	if m.r.oldPages.windows == nil {
		return m.all
	}
	page, _ := docshellOf(m.pages, parse(m.data()), "docShellId", "docshellHistoryId")
	window := m.r.oldPages.windows[page]
	if window == 0 {
		return m.all
	}
	var all []jsonfile.Member
	for _, of := range m.all {
		switch string(of.Key) {
		case "docShellId":
			all = append(all, jsonfile.Member{Key: []byte(windowKey), Value: strconv.AppendInt(nil, window, 10)})
		case "docshellHistoryId":
		default:
			all = append(all, of)
		}
	}
	return all
}

// firstOf is the first of keys that an object has.
func firstOf(o object, keys ...string) string {
	for _, key := range keys {
		if o.has(key) {
			return key
		}
	}
	return ""
}
