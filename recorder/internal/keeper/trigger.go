package keeper

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"strings"
	"sync"
	"time"

	"gprof/rawformat"
	"gprof/recorder/internal/counters"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
	"gprof/recorder/internal/trigger"
)

// triggers is the keeper's part of triggers: it looks at conditions in its rounds, and has a
// goroutine of its own do what rules ask for.
type triggers struct {
	mu     sync.Mutex // guards the triggers themselves
	all    []*trigger.Trigger
	checks []*check // of the program's functions
	due    rt.Time
	told   rt.Time // when tellHeld was last called
	jobs   chan job
}

// job is what a trigger that fired asks for.
type job struct {
	of    *trigger.Trigger // only its rule may be read
	at    time.Time
	reach uint64 // CLOCK_MONOTONIC when it fired, in ns
	file  string // name of the snapshot, "" if there will be none
	all   bool   // of all processes of the session
	flow  uint64
}

const (
	// maxJobs is how many may wait: each takes milliseconds, or the time of a trace.
	maxJobs = 8

	// afterFailure is how long a rule whose work failed does nothing, at least: a disk that is
	// full is so for longer.
	afterFailure = time.Minute

	// heldEvery is how often it is told that rules are held back.
	heldEvery = time.Minute

	// watchEarly is by how much a duration is reduced that is compared in ticks: their rate is
	// not known well in the beginning.
	watchEarly = 0.9
)

var triggerEvent = sync.OnceValue(func() shard.Handle {
	return shard.Handle{Event: registry.Defined.Event(&registry.EventSpec{Name: rawformat.EventTrigger, Category: [3]string{"Recorder", "grey"},
		Display: rawformat.ShowChart | rawformat.ShowTable | rawformat.ShowTimeline, Table: "{marker.data.what}: {marker.data.rule} {marker.data.value}",
		Description: "a rule of GPROF_TRIGGERS or Options.Triggers",
		Fields: []registry.FieldSpec{textField("rule"), textField("what"), textField("value"), textField("file"),
			labelled("held back before", numberField("held", rawformat.WireUint, rawformat.FormatInteger)), numberField("flow", rawformat.WireUint, rawformat.FormatFlow)}})}
})

// open prepares the rules, before markers are recorded.
func (t *triggers) open(k *Keeper) {
	if len(k.config.Triggers) == 0 {
		return
	}
	triggerEvent()
	t.jobs = make(chan job, maxJobs)
	levels := map[string][]*registry.Level{}
	for _, c := range k.config.Triggers {
		one := &trigger.Trigger{Rule: c.Rule}
		t.all = append(t.all, one)
		switch c.On {
		case trigger.Own:
			t.checks = append(t.checks, newCheck(one, c.Check))
		case trigger.Log:
			one.Read = func() trigger.Counted { return trigger.Counted{Over: k.rec.Logged(logClass(int(c.Level)))} }
		case trigger.Slow, trigger.Percentile:
			l := &registry.Level{Above: c.Duration, Each: c.On == trigger.Percentile}
			levels[c.Name] = append(levels[c.Name], l)
			one.Read = func() trigger.Counted { return readLevel(l) }
		default:
			if k.counterPeriod == 0 {
				one.Off = "counters are not recorded"
			}
		}
	}
	for name, of := range levels {
		registry.Defined.Watched(name).Set(of, k.ticksOf(of))
	}
}

func readLevel(l *registry.Level) (c trigger.Counted) {
	c.All, c.Over = l.All.Load(), l.Over.Load()
	c.Longest, c.Flow = l.Take()
	return c
}

// logClass is how records of a level are counted, see [shard.Recording.NoteLog].
func logClass(level int) int { return min(max(0, (level+4)/4), 3) }

// ticksOf is how many ticks an interval must take for one of the levels to matter.
func (k *Keeper) ticksOf(levels []*registry.Level) int64 {
	least := int64(math.MaxInt64)
	for _, l := range levels {
		if l.Each {
			return -1
		}
		clock := k.rec.Clock()
		least = min(least, int64(float64(clock.At(rt.Time(l.Above))-clock.At(0))*watchEarly))
	}
	return least
}

// run starts what triggers need.
func (t *triggers) run(k *Keeper) {
	if len(t.all) == 0 {
		return
	}
	for _, c := range t.checks {
		c.hook.open(c.call)
	}
	for _, one := range t.all {
		if one.Off != "" {
			t.tellOff(k, one)
		}
	}
	k.spawn(func() { t.work(k) })
}

// describe is the text for meta.
func (t *triggers) describe() string {
	var rules []string
	for _, one := range t.all {
		rules = append(rules, one.Text)
	}
	return strings.Join(rules, "; ")
}

// tellOff tells that a rule was switched off, and why, or that it is on again.
func (t *triggers) tellOff(k *Keeper, one *trigger.Trigger) {
	what := rawformat.TriggerOn
	if one.Off != "" {
		what = rawformat.TriggerOff + ": " + one.Off
	}
	k.tell(one, what, trigger.Firing{}, "")
}

// close ends what run started, except for the goroutine that works. No rule is left behind.
func (t *triggers) close() {
	for _, c := range t.checks {
		c.hook.close()
	}
	for _, one := range t.all {
		if one.On == trigger.Slow || one.On == trigger.Percentile {
			registry.Defined.Watched(one.Name).Set(nil, math.MaxInt64)
		}
	}
}

// round looks at all rules. counted says that counters were read just now.
func (t *triggers) round(k *Keeper, now rt.Time, counted bool) {
	if len(t.all) == 0 || now < t.due && !counted {
		return
	}
	t.due = now - now%rt.Time(round) + rt.Time(round)
	readings := k.readings(now, counted)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.checks {
		if c.round(now) {
			t.tellOff(k, c.of)
		}
	}
	for _, one := range t.all {
		if f, fires := one.Look(&readings); fires {
			t.fire(k, one, f)
		}
		if one.HeldFirst() { // at once: a program that is killed tells nothing more
			k.tellHeld(one)
		}
	}
	if now-t.told >= rt.Time(heldEvery) {
		t.tellHeld(k, now)
	}
}

// tellHeld tells how often rules were held back. A program that is killed could not tell.
func (t *triggers) tellHeld(k *Keeper, now rt.Time) {
	t.told = now
	for _, one := range t.all {
		k.tellHeld(one)
	}
}

// tellHeld tells how often a rule was held back, if it was.
func (k *Keeper) tellHeld(one *trigger.Trigger) {
	if held := one.TakeHeld(); held > 0 {
		k.tell(one, rawformat.TriggerHeld, trigger.Firing{Held: held}, "")
	}
}

// readings are those of the counters.
func (k *Keeper) readings(now rt.Time, counted bool) trigger.Readings {
	r := trigger.Readings{Now: time.Duration(now), Known: counted, Processors: float64(runtime.GOMAXPROCS(0))}
	if counted {
		m := &k.counting.meter
		r.CPU, r.GC = time.Duration(m.Value(rawformat.CounterProcessCPU)), time.Duration(m.Value("GC CPU"))
		r.Goroutines = m.Value("goroutines")
		r.Memory, r.Limit = m.Rooms().Share()
	}
	return r
}

// fire marks that a rule fired, and leaves the work to a goroutine.
func (t *triggers) fire(k *Keeper, one *trigger.Trigger, f trigger.Firing) {
	j := job{of: one, at: time.Now(), all: one.All || f.Flow != 0, flow: f.Flow, reach: k.rec.Clock().Base + uint64(rt.Now())}
	if one.Snapshot && k.config.Session != "" {
		j.file = k.keptFile(&j).Name()
	}
	what := rawformat.TriggerFired
	if one.Snapshot || one.Trace {
		select {
		case t.jobs <- j: // it begins after the marker, as Drain waits for this goroutine
		default:
			what, j.file = rawformat.TriggerFailed+": others are at work", ""
		}
	}
	k.tell(one, what, f, j.file)
	if one.Snapshot && k.config.Session == "" {
		k.tell(one, rawformat.TriggerFailed+": "+errNoSession.Error(), trigger.Firing{Flow: f.Flow}, "")
		k.complain("trigger", errNoSession)
	}
}

// errNoSession is why a rule keeps no snapshot of a recording in memory.
var errNoSession = errors.New("recorded in memory, where no snapshots are kept: fetch one from package debug's handler, or have the program call Snapshot")

// tell writes a marker about a rule.
func (k *Keeper) tell(one *trigger.Trigger, what string, f trigger.Firing, file string) {
	k.rec.ProcessInstant(triggerEvent(), shard.Type(one.Text), shard.Type(what), shard.Type(f.Value), shard.Type(file), shard.Type(f.Held), shard.Type(f.Flow))
}

// rest is called while nothing is recorded.
func (t *triggers) rest() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, one := range t.all {
		one.Rest()
	}
}

// last looks at all rules once more, at the end, and tells how often they were held back.
func (t *triggers) last(k *Keeper) {
	t.due = 0
	t.round(k, rt.Now(), false)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tellHeld(k, t.due)
}

// end says that no rule fires any more.
func (t *triggers) end() {
	if t.jobs != nil {
		close(t.jobs)
	}
}

// work does what rules ask for, also what waits when the recording ends.
func (t *triggers) work(k *Keeper) {
	for j := range t.jobs {
		t.do(k, j)
	}
}

// do does what one rule asks for, and tells what came of it.
func (t *triggers) do(k *Keeper, j job) {
	if j.file != "" {
		var size int64
		var err error
		k.Spent(counters.Measure(func() { size, err = k.keepSnapshot(&j) }))
		t.done(k, &j, j.file, size, err)
	}
	if j.of.Trace {
		name, err := k.Trace(j.of.Ahead)
		t.done(k, &j, name, -1, err)
	}
}

// reason is why something failed, without paths, which may name people. The log has these.
func reason(err error) string {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Op + ": " + of.Err.Error()
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

func (t *triggers) done(k *Keeper, j *job, file string, size int64, err error) {
	what, value := rawformat.TriggerKept, ""
	switch {
	case errors.Is(err, ErrStopped):
		return
	case err != nil:
		what, file = rawformat.TriggerFailed+": "+reason(err), ""
		k.complain("trigger", err)
	case size >= 0:
		value = fmt.Sprintf("%d bytes", size)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		j.of.Pause(time.Duration(rt.Now()), afterFailure)
	}
	k.tell(j.of, what, trigger.Firing{Value: value, Flow: j.flow}, file)
}
