package perf

import (
	"fmt"
	"io"

	"gprof/ingest/internal/batches"
	"gprof/stream"
)

// output makes rows for threads of some processes.
type output struct {
	tables   *stream.Tables
	ids      map[*process]stream.ProcessID
	rowOf    map[*process]*stream.Process
	first    string // instance in the ledger
	shift    stream.Time
	tracks   map[thread]stream.TrackID
	counters map[counterKey]stream.CounterID
	rows     batches.Batches
	ended    bool
}

// thread is a thread of a process; a negative tid stands for an unknown one.
type thread struct {
	process *process
	tid     int32
}

// number is the thread in the output.
func (t thread) number() int64 { return max(int64(t.tid), 0) }

type counterKey struct {
	process stream.ProcessID
	event   string
}

// newOutput returns the output of the processes that have an id. The caller holds the lock of the
// tables.
func newOutput(t *stream.Tables, all []*process, ids []stream.ProcessID, rows []stream.Process, shift stream.Time) output {
	o := output{tables: t, rows: batches.Batches{Index: 1}, shift: shift, ids: map[*process]stream.ProcessID{}, rowOf: map[*process]*stream.Process{},
		tracks: map[thread]stream.TrackID{}, counters: map[counterKey]stream.CounterID{}}
	for i, p := range all {
		if i >= len(ids) || ids[i] == 0 {
			continue
		}
		if len(o.ids) == 0 {
			o.first = rows[i].InstanceName()
		}
		o.ids[p], o.rowOf[p] = ids[i], &rows[i]
		o.tracks[thread{p, p.pid}] = t.Tracks.Intern(stream.Track{Process: ids[i], Name: rows[i].Name, Main: true, Thread: thread{p, p.pid}.number()})
	}
	return o
}

// Tables implements [stream.Source].
func (o *output) Tables() *stream.Tables { return o.tables }

// next is Next of a source whose rows come from fill.
func (o *output) next(b *stream.Batch, fill func() error) error {
	for !o.rows.Take(b) {
		if o.ended {
			b.Reset(stream.Series{}, 0)
			return io.EOF
		}
		if err := fill(); err != nil {
			return err
		}
	}
	return nil
}

func (o *output) series(t thread, k stream.Kind) stream.Series {
	return stream.Series{Process: o.ids[t.process], Track: o.track(t), Kind: k}
}

// addSample adds a CPU sample; cpu is ns, -1 unknown.
func (o *output) addSample(t thread, at stream.Time, stack stream.StackID, cpu int64) {
	b := o.rows.Row(o.series(t, stream.Samples), 0, at+o.shift)
	b.AppendOwner(stream.Owner{Thread: t.number()})
	b.Stack, b.Weight, b.CPU = append(b.Stack, stack), append(b.Weight, 1), append(b.CPU, cpu)
}

// addMeasurement adds n of an event.
func (o *output) addMeasurement(t thread, at stream.Time, stack stream.StackID, event string, n int64) {
	s := o.series(t, stream.Measurements)
	s.Counter = o.counter(s.Process, event)
	b := o.rows.Row(s, 0, at+o.shift)
	b.AppendOwner(stream.Owner{Thread: t.number()})
	b.Stack, b.Value, b.Number = append(b.Stack, stack), append(b.Value, n), append(b.Number, 0)
}

func (o *output) counter(p stream.ProcessID, event string) stream.CounterID {
	k := counterKey{p, event}
	id, ok := o.counters[k]
	if !ok {
		c := stream.Counter{Process: p, Name: event, Category: "perf", Description: "count", Measure: true}
		if useOf(event) == asClock {
			c.Unit = stream.FormatNanoseconds
		}
		o.tables.Lock()
		id = o.tables.Counters.Intern(c)
		o.tables.Unlock()
		o.counters[k] = id
	}
	return id
}

func (o *output) track(t thread) stream.TrackID {
	id, ok := o.tracks[t]
	if !ok {
		id = o.intern(t, o.threadName(t))
		o.tracks[t] = id
	}
	return id
}

// threadName tells threads of one name apart by their tids.
func (o *output) threadName(t thread) string {
	name := t.process.threads[t.tid]
	if name == "" {
		name = o.rowOf[t.process].Name
	}
	if t.tid == t.process.pid {
		return name
	}
	return fmt.Sprintf("%s %d", name, t.tid)
}

func (o *output) intern(t thread, name string) stream.TrackID {
	o.tables.Lock()
	defer o.tables.Unlock()
	return o.tables.Tracks.Intern(stream.Track{Process: o.ids[t.process], Name: name, Root: true, Thread: t.number()})
}

// isFull reports whether the tables are full.
func (o *output) isFull() bool {
	o.tables.Lock()
	defer o.tables.Unlock()
	return o.tables.Full()
}

// note adds a ledger line, of the first process, unless it counts nothing.
func (o *output) note(l stream.Line) {
	if l.Count == 0 {
		return
	}
	o.tables.Lock()
	defer o.tables.Unlock()
	l.Process = o.first
	o.tables.Ledger.Add(l)
}
