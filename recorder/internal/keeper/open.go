package keeper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"gprof/chunks/folder"
	"gprof/chunks/ring"
	"gprof/rawformat"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/profile"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/sampler"
	"gprof/recorder/internal/shard"
)

// Errors of the keeper. Package recorder says when.
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
	Session   string        // directory of the session; "" has Alone say why there is none
	Alone     error
	Limit     int64 // bytes that the session may hold
	Asked     bool  // somebody asked for that limit
	Keep      time.Duration
	ChunkSize int    // bytes of a chunk file, at most
	Faults    uint32 // of [mapping.Faults], before any file was mapped

	Markers     bool                    // are recorded
	Wants       func(track string) bool // whether a track is recorded
	CounterHz   int                     // 0: no counters
	HeapEvery   time.Duration           // 0: no heap samples
	WaitHz      int                     // 0: no waits
	TraceBehind time.Duration           // of the execution trace, kept all the time; 0: nothing
	Traceable   bool                    // windows of the execution trace may be taken
	AfterRound  func()                  // of the program, nil: none
}

const (
	// minChunks is how many chunks there should be for each shard. With fewer,
	// most of the ring would be open chunks, and a discard would take a large
	// part of it.
	minChunks = 4

	// dictShare is the dictionary's largest part of the limit.
	dictShare = 8

	minChunkSize = rawformat.ChunkAlign

	// burst is how many bytes should always be ready to be written, while the
	// keeper makes more: what 100 MB/s write in some rounds of the scheduler,
	// for which it may have to wait. A burst of more than that, or a quarter of the
	// limit, may reuse the oldest chunks before the ring has grown to its limit.
	burst = 4 << 20

	// SmallestLimit holds two chunks beside the dictionary.
	SmallestLimit = 2 * minChunkSize * dictShare / (dictShare - 1)

	// MaxWaitHz is how often waits are looked at, at most.
	MaxWaitHz = maxWaitHz
)

// Check is [ErrSmall] if nothing can be recorded with that limit.
func (c *Config) Check() error {
	if c.Limit < SmallestLimit {
		return tooSmall(c.Limit, SmallestLimit)
	}
	return nil
}

// New is a keeper that has not begun: Open must follow, and Close, also where Open fails.
func New(c Config) *Keeper {
	k := &Keeper{config: c, rec: c.Recording, files: c.Files, faults: c.Faults,
		shift: make(chan struct{}, 1), mapped: make(chan struct{}), quit: make(chan struct{}), drains: make(chan chan struct{}, 1)}
	if c.CounterHz > 0 {
		k.counterPeriod = rt.Time(time.Second) / rt.Time(c.CounterHz)
	}
	k.counting.open(k, c.CounterHz)
	k.heap.period = rt.Time(c.HeapEvery)
	k.waits.hz = c.WaitHz
	return k
}

// Open makes the process a member of its session, and makes what lies in its directory:
// the dictionary and the ring. It is [ErrSmall] if there is no room for them,
// [session.ErrSlots] or [folder.ErrForeign] if the session has no place, else the disk's
// error.
func (k *Keeper) Open() (err error) {
	if err = k.member.join(&k.config, k.rec.Instance()); err != nil {
		return err
	}
	k.limit = k.member.share(&k.config)
	if k.chunkSize, err = k.divide(k.config.ChunkSize); err != nil {
		return err
	}
	// The dictionary comes first: who copies the latest files first reads it last,
	// and then it has what the chunks refer to.
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
		l, _ := registry.LabelNamed(number) // it was found before
		return l.Name, l.Category
	}})
	k.tracer.open(&k.config, k.limit)
	return nil
}

func (k *Keeper) openRing() (err error) {
	size, choices := k.chunkSize, k.rec.Choices()
	k.ring, err = ring.Open(k.files, ring.Options{
		Instance: k.rec.Instance(), Pid: uint32(os.Getpid()), ChunkFile: size, Limit: k.config.Limit, Slot: k.member.slot,
		MinSpare: min(max(2*choices, burst/size), int(k.limit)/size/minChunks), Pressed: choices + 1, Clock: k.rec.Clock().Kind(), Keeper: k.rec.AnchorWriter(), Anchor: k.rec.Clock().Anchor,
	})
	if errors.Is(err, ring.ErrLimit) { // it shrank meanwhile
		err = fmt.Errorf("%w: %w", ErrSmall, err)
	}
	if err != nil {
		return err
	}
	k.rec.Use(k.ring)
	k.member.makeRoom(k.ring)
	return nil
}

// divide makes the shards and returns the size of a chunk file, at most that.
// Where the limit is small, chunks get smaller, then shards fewer.
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

// SampleBySignal has CPU samples taken by signals, so many a second of CPU time, of so
// many calls of a stack. The error says why they can't be.
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

// Sampling says how CPU samples are taken, if not by signal: by windows of runtime/pprof,
// or not at all. about is what Sampler says of it.
func (k *Keeper) Sampling(windows bool, about string) {
	if k.windows = windows; windows {
		k.period = int64(profile.Interval)
	}
	k.sampledBy.Store(&about)
}

// Begin defines what is defined in the process, and has markers recorded. It is
// an error if the dictionary takes nothing.
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
	k.rec.Contain(k.rec.WriteAnchor) // its Failure tells
	k.beginPaused()
	if k.pausers == 0 {
		k.rec.Contain(func() { k.pages.round(k) }) // likewise
		k.rec.Admit()
	}
	k.rec.Contain(k.rec.ReplayEarly) // likewise
	return nil
}

// Run starts the keeper's goroutines, which End ends.
func (k *Keeper) Run() {
	k.hook.open(k.config.AfterRound)
	k.employ(k.keepHouse)
	k.employ(k.learnModules)
	if k.windows {
		k.employ(k.sampleCPU)
	}
}

// ownTrack is that of the recorder's goroutines in a CPU profile.
var ownTrack = registry.Defined.Track("gprof recorder")

// employ runs work in a goroutine for which Stop waits. A bug in it ends the
// recording; it must not take the host with it.
func (k *Keeper) employ(work func()) {
	k.crew.Add(1)
	go func() {
		defer k.crew.Done()
		pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(registry.TrackLabel, ownTrack.Name)))
		sampler.NoteLabels(ownTrack, sampler.GoroutineID())
		k.rec.Contain(work) // Err tells
	}()
}

// Stopping calls end, once: after it nothing is paused or resumed. False: it was called
// before.
func (k *Keeper) Stopping(end func()) bool {
	k.switching.Lock()
	defer k.switching.Unlock()
	if k.stopped {
		return false
	}
	k.stopped = true
	end()
	return true
}

// End ends the recording: of its goroutines, of samples, of definitions, and of all
// shards. What was recorded until then is in the files. The error is a bug's.
func (k *Keeper) End() error {
	shard.Current.Store(nil)
	close(k.quit)
	k.rec.Nap().Wake()
	k.crew.Wait()
	k.hook.close()
	k.tracer.close()
	unsealed := k.rec.Contain(func() {
		k.leaveCounter()
		k.rec.ReplayEarly()
	})
	unsampled := k.rec.Contain(k.sampler.Close)
	registry.Defined.Detach()
	k.running.Store(false)
	return errors.Join(unsealed, unsampled, k.rec.Contain(k.rec.Close))
}

// Abandon undoes what Open and Begin did, for a start that fails.
func (k *Keeper) Abandon() error {
	k.rec.RestoreEarly()
	k.sampler.Close()
	k.tracer.close()
	return k.Close()
}

// Close ends the use of the directory's files.
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

// Leave gives the session's slot up, when the files are closed and the exit record is
// written.
func (k *Keeper) Leave() error { return k.member.leave() }

// definitions are what a recording has of the registry.
type definitions struct{ k *Keeper }

func (d definitions) Define(records [][]byte) { d.k.define(records) }
func (d definitions) LoseDefinition()         { d.k.rec.Lose(rawformat.LostDictionary, 1, 0) }
func (d definitions) Wants(track string) bool { return d.k.config.Wants(track) }

// define writes the registry's records that the dictionary does not have yet,
// as many as there is room for. What is left over is counted once. The
// registry's lock is held.
func (k *Keeper) define(records [][]byte) {
	have := k.rec.Defined()
	have += k.dict.Define(records[have:]...)
	k.rec.SetDefined(have)
	if left := len(records) - max(have, k.refused); left > 0 {
		k.refused = len(records)
		k.rec.Lose(rawformat.LostDictionary, uint64(left), 0)
	}
}
