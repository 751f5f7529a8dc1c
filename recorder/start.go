package recorder

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"gprof/chunks"
	"gprof/chunks/mapping"
	"gprof/rawformat"
	"gprof/recorder/internal/counters"
	"gprof/recorder/internal/keeper"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/sampler"
	"gprof/recorder/internal/shard"
)

// open sets up a recording, in the order in which the parts need each other:
//
//  1. Settings and sizes.
//  2. Directory and lock, dictionary, ring, and of meta what is known.
//  3. The definitions; from here on markers are recorded.
//  4. The goroutines of the keeper. It does what takes longer: it tests the CPU sampler, finds out which counters there
//     are, and completes meta.
//
// If a step fails it removes the directory.
func open(o Options) (*Recorder, error) {
	p, err := o.plan()
	if err != nil {
		return nil, err
	}
	faults := mapping.Faults() // before any file is mapped
	r := &Recorder{session: p.session, features: p.Features, dumpDir: p.Dump}
	r.rec = shard.Open(shard.Config{Instance: newInstance(), Markers: p.Features.Has(FeatureMarkers), Stacks: p.Features.Has(FeatureStacks), Wants: wanted(p.Tracks), Faults: p.catchFaults})
	r.place(p)
	keeping := r.keeping(p, faults)
	r.keeper = keeper.New(keeping)
	for _, step := range []func() error{keeping.Check, func() error { return r.create(p) }, r.begin} {
		if err := shard.Guard(step); err != nil {
			return nil, errors.Join(err, shard.Guard(r.abandon))
		}
	}
	if !p.memory {
		r.environ.export(r.session, r.rec.Instance(), p.parent)
	}
	r.keeper.Run()
	return r, nil
}

// keeping is the configuration of the keeper.
func (r *Recorder) keeping(p *plan, faults uint32) keeper.Config {
	c := keeper.Config{
		Recording: r.rec, Files: r.files, Session: p.session, Limit: p.Limit, Asked: p.asked, Keep: p.Keep, ChunkSize: p.ChunkSize, Faults: faults,
		Markers: p.Features.Has(FeatureMarkers), CounterHz: max(0, p.CounterHz), HeapEvery: max(0, p.HeapEvery),
		WaitHz: p.WaitHz, WallHz: p.WallHz, TraceBehind: p.TraceBehind, Traceable: p.traceable, Triggers: p.rules,
		Sample: func() { r.chooseCPU(p) }, Describe: func() error { return r.writeMeta(slices.Concat(p.begun, p.settled(r))) },
	}
	if p.memory {
		c.Session, c.Alone = "", errInMemory
	}
	if p.AfterRound != nil {
		c.AfterRound = func() { p.AfterRound(r.Stats()) }
	}
	return c
}

func newInstance() uint64 {
	return max(1, rt.Random())
}

// create makes the directory and the files in it.
func (r *Recorder) create(p *plan) error {
	if err := r.makeDir(p); err != nil {
		return err
	}
	if err := r.keeper.Open(); err != nil {
		return err
	}
	p.begun = p.beginning(r)
	return r.writeMeta(p.begun)
}

func (r *Recorder) writeMeta(records [][]byte) error {
	return chunks.WriteRecords(r.files, chunks.MetaName, r.header(rawformat.MagicMeta), records...)
}

// begin has markers recorded.
func (r *Recorder) begin() error {
	running.Store(r)
	err := r.keeper.Begin()
	if err != nil {
		running.Store(nil)
	}
	return err
}

// abandon undoes create.
func (r *Recorder) abandon() error {
	err := r.keeper.Abandon()
	return errors.Join(err, r.erase(), r.quitSession())
}

// Start begins to record. Options that o leaves open come from the environment, see
// [Settings], or have defaults. After an error nothing records, and the program should go
// on: every method works on the nil Recorder that is returned.
//
// Start takes about a millisecond. When it returns, markers are recorded, and a program that is killed
// at once leaves a recording that can be read. CPU samples and counters begin some
// milliseconds later, when the recorder's goroutine has tested the sampler and found out which counters
// there are. It then adds to meta what has been found out.
//
// An operator switches the recorder off by GPROF_DISABLE=1 or GPROF=off. That is no error, which
// might end the program: Start says so once on standard error, and returns nil.
//
// The error is [ErrRunning]; [ErrNoRoom]; [ErrSmall], also if the session has too
// many processes for its limit; [session.ErrSlots] if the session has as many processes as
// it can have; [folder.ErrForeign] if somebody else could change what is recorded there; an
// error that names a malformed setting; or the file system's.
//
// If package auto has started a recorder, the first call of Start returns that one, which
// goes on with the settings of the environment; o is ignored.
func Start(o Options) (*Recorder, error) {
	Help(os.Stderr)
	if by := off(); by != "" { // before anything is opened, read or found out
		tellOff(os.Stderr, by)
		return nil, nil
	}
	if !claimed.CompareAndSwap(false, true) {
		if r := takeOver(); r != nil {
			return r, nil
		}
		return nil, ErrRunning
	}
	var r *Recorder
	var err error
	spent := counters.Measure(func() {
		err = shard.Guard(func() (err error) {
			r, err = open(o)
			return err
		})
	})
	if err != nil {
		claimed.Store(false)
		return nil, fmt.Errorf("recorder: %w", err)
	}
	r.keeper.Spent(spent)
	return r, nil
}

// automatic is the recorder that package auto started, until the program takes it over.
var automatic atomic.Pointer[Recorder]

// StartAutomatic is for package auto: it is Start with the settings of the environment. The
// program's own Start takes the recorder over.
func StartAutomatic() (*Recorder, error) {
	r, err := Start(Options{})
	automatic.Store(r)
	return r, err
}

// takeOver returns the recorder that package auto started, if it runs and the program has
// not taken it over yet, else nil.
func takeOver() *Recorder {
	r := automatic.Load()
	if r == nil || running.Load() != r || !automatic.CompareAndSwap(r, nil) {
		return nil
	}
	return r
}

// StartEarly is for package early: from now on markers and CPU samples are kept in memory, up to
// 256 KiB of each, until Start takes them over. It does nothing if a recorder has been started, or if
// GPROF=off or GPROF_DISABLE=1 says that none will be.
func StartEarly() {
	if off() != "" || !claimed.CompareAndSwap(false, true) {
		return
	}
	defer claimed.Store(false)
	env, _ := readSettings() // Start returns the error
	rt.Avoid(env.portable)
	rec := shard.OpenEarly(newInstance())
	if p := (Options{}).with(env); rec != nil && (p.CPU == CPUSignal || p.CPU == CPUAny) {
		shard.Guard(func() error { return sampler.OpenEarly(rec, p.SampleHz, p.StackDepth) }) // Start fails alike, and says why
	}
}

// chooseCPU decides how CPU samples are taken, and notes the reason for meta.
func (r *Recorder) chooseCPU(p *plan) {
	if p.CPU == CPUSignal || p.CPU == CPUAny {
		var err error
		if r.cpuTest, err = r.keeper.SampleBySignal(p.SampleHz, p.StackDepth); err == nil {
			r.cpu = CPUSignal
			return
		}
		r.cpu = CPUOff
		if p.CPU == CPUAny {
			r.cpu = CPUPprof
		}
		r.cpuTest = fmt.Sprintf("no samples by signal, %v instead: %v", r.cpu, err)
	} else {
		r.cpu = p.CPU
	}
	r.keeper.DropEarlySamples(p.CPU != CPUOff)
	r.keeper.SetSampling(r.cpu == CPUPprof, cmp.Or(r.cpuTest, r.cpu.String()))
	if r.cpu == CPUOff {
		r.features &^= FeatureSamples
	}
}
