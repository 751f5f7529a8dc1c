package recorder_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/chunks/kept"
	"gprof/rawformat"
	"gprof/recorder"
	"gprof/recorder/logs"
)

var (
	request = recorder.NewEvent2("request", recorder.Int("n"), recorder.Flow("flow"))
	task    = recorder.NewEventN("task: slow", []recorder.AnyField{recorder.String("a"), recorder.Flow("flow"), recorder.Int("b"), recorder.Int("c"), recorder.Int("d")})
	batch   = recorder.NewEvent3("batch", recorder.String("a"), recorder.String("b"), recorder.LocalFlow("id"))
	query   = recorder.NewEvent("query")
)

// ago is a moment before now.
func ago(d time.Duration) recorder.Time { return recorder.TimeOf(time.Now().Add(-d)) }

// keptOf waits for a file that the session of a recorder keeps by a rule.
func keptOf(t *testing.T, rec *recorder.Recorder, rule string, work func()) (of kept.File) {
	t.Helper()
	waitFor(t, rule, func() (done bool) {
		work()
		files, err := kept.List(filepath.Dir(rec.Dir()))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if f.Rule == kept.RuleOf(rule) {
				of = f
				return true
			}
		}
		return false
	})
	return of
}

// mark is what one marker says about a trigger.
type mark struct {
	rule, what, value, file string
	held, flow              uint64
}

// triggered is what the markers of a recording say.
func (r *recording) triggered() (marks []mark) {
	for _, m := range r.of(rawformat.EventTrigger) {
		text := func(i int) string { return string(m.args[i].Text) }
		marks = append(marks, mark{text(0), text(1), text(2), text(3), m.args[4].Num, m.args[5].Num})
	}
	return marks
}

// Intervals that take long have the past kept, whichever way they are made, and the markers tell of
// it; those that don't, don't.
func TestTriggersOfIntervals(t *testing.T) {
	for name, c := range map[string]struct {
		rule  string
		short func()
		long  func()
		flow  uint64
	}{
		"plain span":  {"request > 1h", func() { request.Begin(1, 7).End() }, func() { request.Interval(ago(2*time.Hour), 2, 7) }, 7},
		"placed":      {"request > 1h", func() { request.Between(ago(time.Hour), ago(time.Second), 1, 7) }, func() { request.Between(ago(2*time.Hour), ago(time.Minute), 2, 7) }, 7},
		"many fields": {`"task: slow" > 1h`, func() { task.Begin().End() }, func() { task.Interval(ago(2*time.Hour), recorder.V("a"), recorder.V(uint64(9))) }, 9},
		"texts":       {"batch > 1h", func() { batch.Begin("a", "b", 5).End() }, func() { batch.Interval(ago(2*time.Hour), "a", "b", 5) }, 0}, // its flow is of this process alone
		"percentile":  {"p50(query) > 1h for 1s", func() { query.Begin().End() }, func() { query.Interval(ago(2 * time.Hour)) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			rule := c.rule + ": snapshot 10s"
			rec := begin(t, recorder.Options{Triggers: []recorder.Trigger{{Rule: rule}}})
			for range 100 {
				c.short()
			}
			for range 101 {
				c.long()
			}
			f := keptOf(t, rec, rule, c.long)
			marks := finish(t, rec).triggered()
			marks = slices.DeleteFunc(marks, func(m mark) bool { return m.what == rawformat.TriggerHeld }) // at any time
			if len(marks) < 2 || marks[0].what != rawformat.TriggerFired || marks[1].what != rawformat.TriggerKept || marks[0].file != f.Name() || marks[1].file != f.Name() || marks[0].flow != c.flow || marks[0].rule != rule {
				t.Errorf("%+v, kept %s", marks, f.Name())
			}
		})
	}
}

// A program that stops at once after something happened has kept it.
func TestTriggerAndStop(t *testing.T) {
	rec := begin(t, recorder.Options{Triggers: []recorder.Trigger{{Rule: "query>1h: snapshot every 1h"}}})
	for range 3 {
		query.Interval(ago(2 * time.Hour))
	}
	r := finish(t, rec)
	files, err := kept.List(rec.Session())
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	if marks := r.triggered(); len(marks) < 2 {
		t.Errorf("%+v", marks)
	}
}

// Conditions of counters hold when the program does what they are about.
func TestTriggersOfCounters(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 30))
	rules := map[string]func(){
		"cpu>1%":            func() { spin(1e6) },
		"gc>1%":             runtime.GC,
		"heap>0.1%":         func() {},
		"goroutines>100":    func() {},
		"goroutines>100000": nil,
	}
	var options recorder.Options
	for rule := range rules {
		options.Triggers = append(options.Triggers, recorder.Trigger{Rule: rule + ": snapshot 1ms"})
	}
	quit := make(chan struct{})
	defer close(quit)
	for range 200 {
		go func() { <-quit }()
	}
	options.CounterHz = 10
	rec := begin(t, options)
	for rule, work := range rules {
		if work != nil {
			keptOf(t, rec, rule+": snapshot 1ms", work)
		}
	}
	for _, m := range finish(t, rec).triggered() {
		if strings.HasPrefix(m.rule, "goroutines>100000") {
			t.Errorf("%+v", m)
		}
	}
}

var sink atomic.Int64

// spin does an amount of work.
func spin(n int) {
	for i := range n {
		sink.Add(int64(i))
	}
}

// Without counters their rules say that they are off.
func TestTriggerWithoutCounters(t *testing.T) {
	rec := begin(t, recorder.Options{Triggers: []recorder.Trigger{{Rule: "cpu>1%: mark"}}})
	if marks := finish(t, rec).triggered(); len(marks) != 1 || marks[0].what != "off: counters are not recorded" {
		t.Errorf("%+v", marks)
	}
}

// A function of the program is a condition. If it panics, or does not return, its rule is off,
// and all else goes on.
func TestTriggersOfTheProgram(t *testing.T) {
	var full atomic.Bool
	block := make(chan struct{})
	rec := begin(t, recorder.Options{Triggers: []recorder.Trigger{
		{Rule: "it panics: snapshot", Check: func() bool { panic("on purpose") }},
		{Rule: "it hangs: snapshot", Check: func() bool { <-block; return false }},
		{Rule: "queue is full: snapshot 1s", Check: full.Load},
	}})
	off := func(rule string) (what string) {
		r := read(t, rec.Dir(), chunks.Unproven)
		for _, m := range r.triggered() {
			if m.rule == rule {
				what = m.what
			}
		}
		return what
	}
	waitFor(t, "off", func() bool {
		return off("it panics: snapshot") == "off: its function panicked" && off("it hangs: snapshot") == "off: its function does not return"
	})
	close(block)
	waitFor(t, "on again", func() bool { return off("it hangs: snapshot") == rawformat.TriggerOn })
	full.Store(true)
	keptOf(t, rec, "queue is full: snapshot 1s", func() {})
	query.Mark()
	if r := finish(t, rec); len(r.of("query")) != 1 {
		t.Error("the marker is missing")
	}
}

// A log record of a level is a condition, and those below it are none.
func TestTriggerOfLog(t *testing.T) {
	const rule = "log>=warn: snapshot 1s"
	rec := begin(t, recorder.Options{Triggers: []recorder.Trigger{{Rule: rule}, {Rule: "log>=error: snapshot"}}})
	logger := slog.New(logs.NewHandler(nil, nil))
	for range 10 {
		logger.Info("all is well")
	}
	logger.Warn("something is odd")
	keptOf(t, rec, rule, func() {})
	marks := finish(t, rec).triggered()
	if len(marks) != 2 || marks[0].rule != rule || marks[0].value != "records: 1" {
		t.Errorf("%+v", marks)
	}
}

// A window of the execution trace lies beside the recording.
func TestTriggerTraces(t *testing.T) {
	rec := begin(t, recorder.Options{Limit: 64 << 20, Triggers: []recorder.Trigger{{Rule: "query>1h: trace 1ms"}}})
	query.Interval(ago(2 * time.Hour))
	waitFor(t, "a trace", func() bool {
		_, err := os.Stat(filepath.Join(rec.Dir(), "trace-000.out"))
		return err == nil
	})
	r := finish(t, rec)
	marks := r.triggered()
	if len(marks) < 2 || marks[1].what != rawformat.TriggerKept || marks[1].file != "trace-000.out" || len(r.Traces) != 1 {
		t.Errorf("%+v, %v", marks, r.Traces)
	}
}

// What can't be kept is told, once in a while, and recording goes on.
func TestTriggerFails(t *testing.T) {
	begun := time.Now()
	rec := begin(t, recorder.Options{Triggers: []recorder.Trigger{{Rule: "query>1h: snapshot every 1s"}}})
	if err := os.WriteFile(filepath.Join(rec.Session(), kept.DirName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	count := func() (failed int) {
		query.Interval(ago(2 * time.Hour))
		for _, m := range read(t, rec.Dir(), chunks.Unproven).triggered() {
			if strings.HasPrefix(m.what, rawformat.TriggerFailed+": ") {
				failed++
			}
		}
		return failed
	}
	waitFor(t, "a failure", func() bool { return count() > 0 })
	for range 1000 {
		query.Interval(ago(2 * time.Hour))
	}
	r := finish(t, rec)
	marks := r.triggered()
	// It is told at once that the rule is held back, and at the end how often since then; not each time.
	told := map[string]int{}
	for _, m := range marks {
		told[strings.SplitN(m.what, ":", 2)[0]]++
		if m.what == rawformat.TriggerHeld && m.held == 0 {
			t.Errorf("%+v", m)
		}
	}
	if told[rawformat.TriggerFired] == 0 || told[rawformat.TriggerFailed] != told[rawformat.TriggerFired] || told[rawformat.TriggerHeld] == 0 || len(marks) > 20+4*int(time.Since(begun)/time.Second) {
		t.Errorf("%v: %+v", told, marks)
	}
	if n := len(r.of("query")); n < 1000 {
		t.Errorf("%d markers", n)
	}
}

// A recording in memory keeps no snapshots: its markers and its log say so, each time and once. All else is the same.
func TestTriggerInMemory(t *testing.T) {
	to := t.TempDir()
	rec := begin(t, recorder.Options{Dir: recorder.DirInMemory, Dump: to, Service: "memory", Limit: 64 << 20, Triggers: []recorder.Trigger{{Rule: "query>1h: snapshot, trace 1ms"}}})
	query.Interval(ago(2 * time.Hour))
	if err := rec.Stop(); err != nil {
		t.Fatal(err)
	}
	r := read(t, filepath.Join(to, "memory", fmt.Sprintf("%016x", rec.Instance())))
	marks := r.triggered()
	if len(marks) < 2 || marks[0].what != rawformat.TriggerFired || marks[0].file != "" || !strings.HasPrefix(marks[1].what, rawformat.TriggerFailed+": recorded in memory") {
		t.Errorf("%+v", marks)
	}
	if warnings := r.warnings(); len(warnings) != 1 || !strings.Contains(warnings[0], "recorded in memory") {
		t.Errorf("%q", warnings)
	}
	if entries, err := os.ReadDir(filepath.Join(to, "memory")); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// Rules that mean nothing are errors of Start, and none if nothing is recorded.
func TestTriggerErrors(t *testing.T) {
	if _, err := recorder.Start(recorder.Options{Dir: t.TempDir(), Triggers: []recorder.Trigger{{Rule: "cpu: snapshot"}}}); err == nil || !strings.Contains(err.Error(), `trigger "cpu: snapshot"`) {
		t.Errorf("%v", err)
	}
	t.Setenv("GPROF_TRIGGERS", "nonsense")
	if _, err := recorder.Start(recorder.Options{Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "GPROF_TRIGGERS") {
		t.Errorf("%v", err)
	}
	t.Setenv("GPROF_DISABLE", "1")
	if rec, err := recorder.Start(recorder.Options{}); rec != nil || err != nil {
		t.Errorf("%v, %v", rec, err)
	}
}
