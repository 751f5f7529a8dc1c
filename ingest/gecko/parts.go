package gecko

import (
	"cmp"
	"slices"
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
		if x.value.Get(key) != nil && x == r.processes[0] {
			r.lose(stream.ReasonUnsupported, key, 1)
		}
	}
}

// sourceMaps counts what the list of sources of a process tells that their frames don't.
func (r *reader) sourceMaps(x *process) {
	t := r.file.table(x.value.Get("sources"), "sourceMapURL")
	for t.next() && !r.full() {
		r.unplaced(t, 0, "maps of sources")
	}
	r.ended(t, "sources")
}

// ofProcess are those elements of a list that belong to a process: in a processed
// profile they say to which.
func (r *reader) ofProcess(x *process, key string) (all []*jsonfile.Value) {
	list := x.value.Get(key)
	if list.Is(jsonfile.Object) && !r.processed() {
		return []*jsonfile.Value{list}
	}
	if list == nil {
		return nil
	}
	for i := range list.List() {
		v := &list.List()[i]
		if x.value != r.root || !r.processed() || r.owns(x, v) {
			all = append(all, v)
		}
	}
	return all
}

// owns reports whether an element is of process x: by its pid, or, as old versions have
// it, by one of its threads.
func (r *reader) owns(x *process, v *jsonfile.Value) bool {
	if pid := r.file.plain(v.Get("pid")); r.knows(pid) {
		return pid == x.pid
	}
	all, i := r.threads(r.root), r.integer(v.Get("mainThreadIndex"))
	if i >= int64(len(all)) {
		return x == r.processes[0]
	}
	return slices.ContainsFunc(x.threads, func(t *thread) bool { return t.value == &all[i] })
}

func (r *reader) counters(x *process, id stream.ProcessID) {
	for _, v := range r.ofProcess(x, "counters") {
		row := r.counter(v)
		row.Process = id
		s := stream.Series{Process: id, Kind: stream.Counts, Counter: r.t.Counters.Intern(row)}
		samples := v.Get("samples")
		groups := cmp.Or(v.Get("sample_groups"), v.Get("sampleGroups"))
		if groups.Is(jsonfile.Object) { // a fault of Firefox before 71
			samples = groups.Get("samples")
		} else if groups != nil && len(groups.List()) > 0 {
			samples = groups.List()[0].Get("samples")
			if n := len(groups.List()) - 1; n > 0 {
				r.lose(stream.ReasonUnsupported, "further groups of counters", int64(n))
			}
		}
		r.counts(samples, s, row.Unit)
	}
}

// counter is what a counter is: what a sink of ours says of it, or what the viewer makes
// of it.
func (r *reader) counter(v *jsonfile.Value) stream.Counter {
	c := stream.Counter{Name: r.file.text(v.Get("name")), Category: r.file.text(v.Get("category")), Description: r.file.text(v.Get("description")), Total: true}
	if about := v.Get("gprof"); about != nil {
		says := func(key string) bool { return string(r.file.raw(about.Get(key))) == "true" }
		c.Category, c.Total, c.Own = r.file.text(about.Get("category")), says("total"), says("own")
		unit := r.file.text(about.Get("unit"))
		if c.Unit = formats[unit].format; unit == "pWh" {
			c.Unit = stream.FormatPicowatt
		}
		return c
	}
	unit, graph := r.file.text(v.Get("display", "unit")), r.file.text(v.Get("display", "graphType"))
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
	if graph == "line-accumulated" {
		c.Total = false
	}
	return c
}

// counts reads the rows of a counter: each is what came to it since the last.
func (r *reader) counts(v *jsonfile.Value, s stream.Series, unit stream.Format) {
	t := r.file.table(v, "time", "timeDeltas", "count", "number")
	digits := 0
	if unit == stream.FormatNanoseconds && r.processed() { // it is in ms
		digits = 6
	}
	var value, number int64
	at := stream.Time(0)
	for t.next() && !r.full() {
		if ns, ok := t.nanos(0); ok {
			at = stream.Time(ns)
		} else if ns, ok := t.nanos(1); ok {
			at += stream.Time(ns)
		} else {
			r.lose(stream.ReasonMalformed, "counter rows without a time", 1)
			continue
		}
		count := r.count(t.cells[2], digits)
		operations := r.count(t.cells[3], 0)
		value, number = value+count, number+operations
		b := r.out.row(s, r.zero+at, r.zero+at)
		b.Value, b.Number = append(b.Value, value), append(b.Number, number)
	}
	r.ended(t, "counters")
}

// count is a number of a counter, of which so many digits behind the point count.
func (r *reader) count(raw []byte, digits int) int64 {
	if n, ok := jsonfile.Int(raw); ok && digits == 0 {
		return n
	}
	n, ok := jsonfile.Fixed(raw, digits)
	if digits == 0 && (ok || !isNull(raw)) {
		r.lose(stream.ReasonUnsupported, "fractions of counters", 1)
	}
	return n
}

// pauseReasons are the names of the reasons of pauses.
var pauseReasons = []string{stream.PausedAll: "profiler-paused", stream.PausedSampling: "sampling-paused", stream.PausedCollecting: "collecting"}

// pauses reads the ranges in which nothing was recorded. A processed profile has
// them in each thread.
func (r *reader) pauses(x *process, id stream.ProcessID) {
	v := x.value.Get("pausedRanges")
	if r.processed() {
		if v = x.about.Get("pausedRanges"); v == nil && len(x.threads) > 0 {
			v = x.threads[0].value.Get("pausedRanges")
		}
	}
	r.note(r.file.objects(v, func(o object) {
		reason := slices.Index(pauseReasons, o.text("reason"))
		if reason < 0 {
			r.lose(stream.ReasonUnsupported, "pauses for other reasons", 1)
			return
		}
		r.pause(id, o["startTime"], stream.PhaseStart, reason)
		r.pause(id, o["endTime"], stream.PhaseEnd, reason)
	}))
}

func (r *reader) pause(id stream.ProcessID, raw []byte, phase stream.Phase, reason int) {
	ns, ok := nanos(raw)
	if !ok {
		return
	}
	at := r.zero + stream.Time(ns)
	b := r.out.row(stream.Series{Process: id, Kind: stream.Pauses}, at, at)
	b.Phase, b.Duration = append(b.Phase, phase), append(b.Duration, 0)
	b.Value, b.Number = append(b.Value, int64(reason)), append(b.Number, 0)
}

// overheads reads what the profiler itself cost, in microseconds. Its times are
// so, too, in a Gecko profile.
func (r *reader) overheads(x *process, id stream.ProcessID) {
	digits := 3
	if r.processed() {
		digits = 6
	}
	for _, v := range r.ofProcess(x, "profilerOverhead") {
		t := r.file.table(v.Get("samples"), "time", "locking", "expiredMarkerCleaning", "counters", "threads")
		for t.next() && !r.full() {
			ns, ok := jsonfile.Fixed(t.cells[0], digits)
			if !ok {
				r.lose(stream.ReasonMalformed, "overheads without a time", 1)
				continue
			}
			at := r.zero + stream.Time(ns)
			b := r.out.row(stream.Series{Process: id, Kind: stream.Overheads}, at, at)
			for k := range b.Args {
				cost, ok := int64(0), k+1 < len(t.cells)
				if ok {
					cost, ok = jsonfile.Fixed(t.cells[k+1], 3)
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

// logLevels are the names of the levels.
var logLevels = []string{stream.LogInfo: "info", stream.LogWarn: "warning", stream.LogError: "error"}

// logs reads what profiler and recorder had to say of a process. Firefox says
// it in objects of its own: they are kept as text.
func (r *reader) logs(x *process, id stream.ProcessID) {
	for _, key := range []string{"profilingLog", "profileGatheringLog"} {
		all := x.value.Get(key)
		if all == nil {
			continue
		}
		for i := range all.Members() {
			m := &all.Members()[i]
			if m.Key != x.pid && (x != r.processes[0] || r.knows(m.Key)) {
				continue
			}
			switch {
			case m.Value.Get("log").Is(jsonfile.Array):
				r.ourLog(id, m.Value.Get("log"))
			case m.Value.Get("ledger").Is(jsonfile.Array): // see ledgers
			default:
				r.log(id, r.t.Process(id).Start, stream.LogInfo, key+" of "+m.Key+": "+strings.TrimSpace(string(r.file.raw(&m.Value))))
			}
		}
	}
}

// knows reports whether there is a process of that pid.
func (r *reader) knows(pid string) bool { return r.pids[pid] }

func (r *reader) ourLog(id stream.ProcessID, v *jsonfile.Value) {
	r.note(r.file.objects(v, func(o object) {
		ns, _ := nanos(o["time"])
		level := slices.Index(logLevels, o.text("level"))
		if level < 0 {
			level = int(number(o.text("level")))
		}
		r.log(id, r.zero+stream.Time(ns), int64(level), o.text("text"))
	}))
}

func (r *reader) log(id stream.ProcessID, at stream.Time, level int64, text string) {
	b := r.out.row(stream.Series{Process: id, Kind: stream.Logs}, at, at)
	b.Value, b.Number = append(b.Value, level), append(b.Number, 0)
	b.Args[0].AppendText([]byte(text))
	r.out.bytes += len(text)
}

// ledgers reads the lines of the ledger that a sink of ours wrote.
func (r *reader) ledgers() {
	gathered := r.root.Get("profileGatheringLog")
	if gathered == nil {
		return
	}
	for i := range gathered.Members() {
		r.note(r.file.objects(gathered.Members()[i].Value.Get("ledger"), func(o object) {
			reason := slices.IndexFunc(stream.Reasons[:], func(known struct {
				Name     string
				Severity stream.Severity
				Text     string
			}) bool {
				return known.Name == o.text("reason")
			})
			if reason >= 0 {
				r.t.Ledger.Add(stream.Line{Process: o.text("process"), Reason: stream.Reason(reason), What: o.text("what"), Where: o.text("where"),
					Count: o.integer("count"), Bytes: o.integer("bytes")})
			}
		}))
	}
}
