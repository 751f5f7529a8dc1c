package keeper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"

	"gprof/chunks/folder"
	"gprof/chunks/ring"
	"gprof/rawformat"
	"gprof/recorder/internal/counters"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/profile"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/sampler"
	"gprof/recorder/internal/shard"
	"gprof/recorder/internal/trigger"
)

// Errors of the keeper. Package recorder says when they are returned.
var (
	ErrSmall   = errors.New("limit too small to record anything")
	ErrStopped = errors.New("nothing is recorded")
	ErrTracing = errors.New("a window of the execution trace is being taken")
	ErrNoTrace = errors.New("execution traces are switched off by Options.Features or Options.Without")
)

// Config is what a keeper is opened with.
type Config struct {
	Recording *shard.Recording
	Files     folder.Folder // of the instance
	Session   string        // directory of the session; "" if there is none
	Alone     error         // why there is none
	Limit     int64         // bytes that the session may hold
	Asked     bool          // the limit was asked for, it is not the default
	Keep      time.Duration
	ChunkSize int    // of a chunk file, in bytes; it may become smaller
	Faults    uint32 // the value of [mapping.Faults] before any file was mapped

	Markers     bool          // markers are recorded
	CounterHz   int           // 0: no counters
	HeapEvery   time.Duration // 0: no heap samples
	WaitHz      int           // 0: no waits
	WallHz      int           // 0: no rounds over goroutines
	TraceBehind time.Duration // how much of the execution trace is kept all the time; 0: nothing
	Traceable   bool          // windows of the execution trace may be taken
	AfterRound  func()        // the program's hook, nil: none
	Triggers    []Trigger

	// The keeper calls these when markers are recorded already.
	Sample   func()       // chooses how CPU samples are taken, by SampleBySignal or SetSampling
	Describe func() error // writes down how things are recorded, see [Keeper.Describe]; called again after an error
}

// Trigger is a rule, and the program's function if it is about one.
type Trigger struct {
	trigger.Rule
	Check func() bool
}

const (
	// minChunks is how many chunks there should be for each shard. With fewer, most of
	// the ring would be open chunks, and a discard would drop a large part of it.
	minChunks = 4

	// dictShare bounds the dictionary: it may have 1/dictShare of the limit.
	dictShare = 8

	minChunkSize = rawformat.ChunkAlign

	// burst is how many bytes should always be ready to be written while the keeper
	// makes more: as much as is written at 100 MB/s in the time that the keeper may have
	// to wait for a processor. A burst larger than that, or than a quarter of the limit,
	// may reuse the oldest chunks before the ring has grown to its limit.
	burst = 4 << 20

	// SmallestLimit holds two chunks beside the dictionary.
	SmallestLimit = 2 * minChunkSize * dictShare / (dictShare - 1)
)

// Check returns [ErrSmall] if nothing can be recorded with that limit.
func (c *Config) Check() error {
	if c.Limit < SmallestLimit {
		return tooSmall(c.Limit, SmallestLimit)
	}
	return nil
}

// New makes a keeper that has not begun. Open must follow, and Close, even if Open fails.
func New(c Config) *Keeper {
	k := &Keeper{config: c, rec: c.Recording, files: c.Files, faults: c.Faults,
		pauseChanged: make(chan struct{}, 1), chosen: make(chan struct{}), mapped: make(chan struct{}), quit: make(chan struct{}), drains: make(chan chan struct{}, 1)}
	if c.CounterHz > 0 {
		k.counterPeriod = rt.Time(time.Second) / rt.Time(c.CounterHz)
	}
	k.heap.period = rt.Time(c.HeapEvery)
	k.waits.hz = c.WaitHz
	k.wall.hz.Store(int32(c.WallHz))
	return k
}

// Open makes the process a member of its session, and creates the dictionary and the ring
// in its directory. The error is [ErrSmall] if there is no room for them,
// [session.ErrSlots] or [folder.ErrForeign] if the session has no place, or the disk's.
func (k *Keeper) Open() (err error) {
	if err = k.member.join(&k.config, k.rec.Instance()); err != nil {
		return err
	}
	k.limit = k.member.share(&k.config)
	if k.chunkSize, err = k.divide(k.config.ChunkSize); err != nil {
		return err
	}
	// The dictionary comes first: a tool that copies the latest files first reads it last,
	// and then it has everything that the chunks refer to.
	file, err := k.createDict(1)
	if k.member.clearDisk(err) {
		file, err = k.createDict(1)
	}
	if err != nil {
		return err
	}
	if err = k.openRing(); err != nil {
		return errors.Join(err, file.Close())
	}
	k.dict = dict.New(file, dict.Config{Limit: k.limit / dictShare, Charge: k.ring.Charge, LabelName: func(number uint32) (string, uint32) {
		l, _ := registry.LabelNamed(number) // it exists: its number was found before
		return l.Name, l.Category
	}})
	k.tracer.open(&k.config, k.limit)
	k.triggers.open(k)
	if k.rec.HasEarly() || sampler.HasEarly() {
		k.chooseSampling() // the samples from before Start, and what they stand for, must be on the disk soon
	}
	return nil
}

func (k *Keeper) openRing() (err error) {
	k.rec.Settle() // as late as possible, because it waits
	size, choices := k.chunkSize, k.rec.Choices()
	atFirst := max(choices+1, burst/4/size) // a burst may come before the keeper has had its turn
	reserved := 0
	if k.rec.FaultErr() == nil { // otherwise a byte that can't be stored would end the program
		reserved = 2
	}
	k.ring, err = ring.Open(k.files, ring.Options{
		Instance: k.rec.Instance(), Pid: uint32(os.Getpid()), ChunkFile: size, Limit: k.config.Limit, Slot: k.member.slot,
		MinSpare: min(max(2*choices, burst/size), int(k.limit)/size/minChunks), Pressed: choices + 1, AtFirst: atFirst, Reserved: reserved, Clock: k.rec.Clock().Kind(), Keeper: k.rec.AnchorWriter(), Anchor: k.rec.Clock().Anchor,
	})
	if errors.Is(err, ring.ErrLimit) { // the limit shrank meanwhile
		err = fmt.Errorf("%w: %w", ErrSmall, err)
	}
	if err != nil {
		return err
	}
	k.rec.Use(k.ring)
	k.member.makeRoom()
	return nil
}

// divide makes the shards and returns the size of a chunk file, at most most. If the limit
// is small, first chunks get smaller, then shards fewer.
func (k *Keeper) divide(most int) (size int, err error) {
	writers := 1
	for writers < min(max(runtime.GOMAXPROCS(0), runtime.NumCPU()), shard.MaxChoices) {
		writers *= 2
	}
	size = most
	rings := k.limit - k.limit/dictShare
	for size > minChunkSize && rings/int64(size) < int64(minChunks*2*writers) {
		size = max(minChunkSize, size/2/minChunkSize*minChunkSize)
	}
	for writers > 1 && rings/int64(size) < int64(minChunks*2*writers) {
		writers /= 2
	}
	if rings < 2*int64(size) {
		return 0, tooSmall(k.limit, 2*int64(size)*dictShare/(dictShare-1))
	}
	k.rec.MakeShards(writers, int(rings/int64(size)/minChunks))
	return size, nil
}

func tooSmall(limit, want int64) error {
	return fmt.Errorf("%w: %d bytes for this process, want %d", ErrSmall, limit, want)
}

// chooseSampling decides how CPU samples are taken, unless that was done.
func (k *Keeper) chooseSampling() {
	k.choosing.Do(func() {
		defer close(k.chosen)
		k.config.Sample()
	})
}

// SampleBySignal has CPU samples taken by signals, hz in a second of CPU time, with at most depth calls of the
// stack. about describes how. The error says why it can't be done.
func (k *Keeper) SampleBySignal(hz, depth int) (about string, err error) {
	err = k.sampler.Open(sampler.Host{Recording: k.rec, Ring: k.ring, Files: k.files, Dict: k.dict, Limit: k.limit, Maintain: k.maintainRing, Complain: k.complain,
		Ended: func(why string) { k.sampledBy.Store(&why) }}, hz, depth)
	if err != nil {
		return "", err
	}
	k.period = k.sampler.Period()
	about = k.sampler.Describe(hz)
	k.sampledBy.Store(&about)
	return about, nil
}

// SetSampling says how CPU samples are taken if not by signals: in windows of
// runtime/pprof, or not at all. [Keeper.Sampler] returns about.
func (k *Keeper) SetSampling(windows bool, about string) {
	if k.windows = windows; windows {
		k.period = int64(profile.Interval)
	}
	k.sampledBy.Store(&about)
}

// Begin writes the definitions of the process into the dictionary, and has markers
// recorded. The error is [ErrSmall] if none of the definitions fits.
func (k *Keeper) Begin() error {
	err := registry.Defined.Attach(definitions{k}, func(records [][]byte) error {
		k.define(records)
		if k.rec.Defined() == 0 {
			return fmt.Errorf("%w: none of %d definitions fits into a dictionary of %d bytes", ErrSmall, len(records), k.limit/dictShare)
		}
		return nil
	})
	if err != nil {
		return err
	}
	k.running.Store(true)
	k.rec.Contain(k.rec.WriteAnchor) // Failure has the error; likewise below
	k.beginPaused()
	if k.pausers == 0 {
		k.rec.Contain(func() { k.pages.round(k) })
		k.rec.Admit()
	}
	k.rec.Contain(k.takeOver)
	return nil
}

// takeOver writes what was recorded before Start, and a marker that says where that ends. The
// samples of a program that is killed at once have names only if the modules are known by now,
// which mostly takes a few milliseconds.
func (k *Keeper) takeOver() {
	k.rec.ReplayEarly()
	k.early = k.sampler.DescribeEarly()
	if k.sampler.HasEarly() {
		k.startLearning()
		select {
		case <-k.mapped:
		case <-time.After(patience):
		}
	}
	samples := k.sampler.WriteEarly(k.isMapped())
	if k.rec.HasEarly() {
		k.rec.ProcessInstant(handOver(), shard.Type(uint64(samples)))
	}
}

// handOver is the event of that marker; only programs that record before Start have it.
var handOver = sync.OnceValue(func() shard.Handle {
	return shard.Handle{Event: registry.Defined.Event(&registry.EventSpec{Name: "end of early recording", Category: [3]string{"Recorder", "grey"},
		Display: rawformat.ShowChart | rawformat.ShowTable | rawformat.ShowTimeline,
		Fields:  []registry.FieldSpec{labelled("CPU samples before", numberField("samples", rawformat.WireUint, rawformat.FormatInteger))}})}
})

// DropEarlySamples drops CPU samples from before Start; lost says that they were wanted.
func (k *Keeper) DropEarlySamples(lost bool) {
	if n := k.sampler.DropEarly(); lost && n > 0 {
		k.rec.Lose(rawformat.LostSamples, uint64(n), 0)
	}
}

// Run starts the keeper's goroutines, which End ends.
func (k *Keeper) Run() {
	k.hook.open(k.config.AfterRound)
	k.triggers.run(k)
	k.spawn(k.run)
}

// ownTrack is the track of the recorder's goroutines in a CPU profile.
var ownTrack = registry.Defined.Track("gprof recorder")

// spawn runs work in a goroutine that End waits for. A bug in it ends the recording; it
// must not take the host with it.
func (k *Keeper) spawn(work func()) {
	k.goroutines.Add(1)
	go func() {
		defer k.goroutines.Done()
		pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(registry.TrackLabel, ownTrack.Name)))
		sampler.NoteLabels(ownTrack, sampler.GoroutineID())
		k.rec.Contain(work) // Failure has the error
	}()
}

// spawnBriefly spawns work that ends soon, and that counts as the recorder's.
func (k *Keeper) spawnBriefly(work func()) { k.spawn(func() { k.Spent(counters.Measure(work)) }) }

// Spent adds CPU time of other threads than the keeper's to the counter of the recorder's.
func (k *Keeper) Spent(d time.Duration) { k.counting.meter.Spent(d) }

// StopOnce calls end, once. Nothing is paused or resumed after that. False: it was called
// before.
func (k *Keeper) StopOnce(end func()) bool {
	k.switching.Lock()
	defer k.switching.Unlock()
	if k.stopped {
		return false
	}
	k.stopped = true
	end()
	return true
}

// End ends the recording: its goroutines, samples, definitions, and all shards. All that
// was recorded before is in the files. An error is a bug's.
func (k *Keeper) End() error {
	shard.Current.Store(nil)
	close(k.quit)
	k.rec.Nap().Wake()
	k.goroutines.Wait()
	k.hook.close()
	k.triggers.close()
	k.tracer.close()
	unsealed := k.rec.Contain(func() {
		k.leaveCounter()
		k.rec.ReplayEarly()
		k.rec.NameRoots(k.dict)
		if k.dict.IsFull() {
			k.rotateDictionary() // for names of roots that found no room
		}
	})
	unsampled := k.rec.Contain(k.sampler.Close)
	registry.Defined.Detach()
	k.running.Store(false)
	unclosed := k.rec.Contain(k.rec.Close)
	k.rec.Nap().Close()
	return errors.Join(unsealed, unsampled, unclosed)
}

// Abandon undoes what Open and Begin did, for a start that fails.
func (k *Keeper) Abandon() error {
	k.choosing.Do(func() { close(k.chosen) })
	k.rec.RestoreEarly()
	k.sampler.Close()
	k.triggers.close()
	k.tracer.close()
	return k.Close()
}

// Close closes the files of the directory.
func (k *Keeper) Close() error {
	var errs []error
	if k.ring != nil {
		errs = append(errs, shard.Guard(k.ring.Close))
	}
	if k.dict != nil {
		errs = append(errs, k.dict.Close())
	}
	k.counting.meter.Close()
	return errors.Join(errs...)
}

// Leave gives up the session's slot. Call it when the files are closed and the exit record
// is written.
func (k *Keeper) Leave() error { return k.member.leave() }
