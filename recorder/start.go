package recorder

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"gprof/chunks"
	"gprof/chunks/mapping"
	"gprof/chunks/ring"
	"gprof/rawformat"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/sampler"
	"gprof/recorder/internal/shard"
)

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
)

// open sets a recording up, in the order in which the parts need each other:
//
//  1. Settings and sizes.
//  2. Directory and lock, dictionary, ring, meta.
//  3. The definitions; from here on markers are recorded.
//  4. The keeper and the CPU sampler.
//
// If a step fails the directory is removed.
func open(o Options) (*Recorder, error) {
	p, err := o.plan()
	if err != nil {
		return nil, err
	}
	faults := mapping.Faults()
	r := &Recorder{session: p.session, keeper: keeper{
		rec:      shard.Open(shard.Config{Instance: newInstance(), Markers: p.Features.Has(FeatureMarkers), Stacks: p.Features.Has(FeatureStacks), Exposed: p.catchFaults()}),
		features: p.Features, filter: p.Tracks, faults: faults,
		shift: make(chan struct{}, 1), mapped: make(chan struct{}), quit: make(chan struct{}), drains: make(chan chan struct{}, 1),
	}}
	r.dumpDir = p.Dump
	r.place(p)
	if p.CounterHz > 0 {
		r.counterPeriod = rt.Time(time.Second) / rt.Time(p.CounterHz)
	}
	r.counting.open(&r.keeper, max(0, p.CounterHz))
	r.heap.period = Time(max(0, p.HeapEvery))
	r.waits.hz = p.WaitHz
	if err := shard.Guard(func() error { return r.create(p) }); err != nil {
		return nil, errors.Join(err, shard.Guard(r.abandon))
	}
	if err := shard.Guard(r.begin); err != nil {
		return nil, errors.Join(err, shard.Guard(r.abandon))
	}
	if !p.memory {
		r.environ.export(r.session, r.rec.Instance(), p.parent)
	}
	r.hook.open(r, p.AfterRound)
	r.employ(r.keepHouse)
	r.employ(r.learnModules)
	if r.cpu == CPUPprof {
		r.employ(r.sampleCPU)
	}
	return r, nil
}

// ownTrack is that of the recorder's goroutines in a CPU profile.
var ownTrack = registry.Defined.Track("gprof recorder")

// employ runs work in a goroutine for which Stop waits. A bug in it ends the
// recording; it must not take the host with it.
func (k *keeper) employ(work func()) {
	k.crew.Add(1)
	go func() {
		defer k.crew.Done()
		pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(trackLabel, ownTrack.Name)))
		sampler.NoteLabels(ownTrack, sampler.GoroutineID())
		k.rec.Contain(work) // Err tells
	}()
}

func newInstance() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return max(1, binary.LittleEndian.Uint64(b[:]))
}

func instanceName(instance uint64) string { return fmt.Sprintf("%016x", instance) }

// create makes what lies in the directory.
func (r *Recorder) create(p *plan) (err error) {
	if p.Limit < smallestLimit { // before anything is made
		return tooSmall(p.Limit, smallestLimit)
	}
	if err = r.settle(p); err != nil {
		return err
	}
	r.limit = r.member.share(p)
	size, err := r.divide(p.ChunkSize)
	if err != nil {
		return err
	}
	// The dictionary comes first: who copies the latest files first reads it last,
	// and then it has what the chunks refer to.
	file, err := r.createDict(1)
	if r.member.clearDisk(err) {
		file, err = r.createDict(1)
	}
	if err != nil {
		return err
	}
	r.ring, err = ring.Open(r.files, ring.Options{
		Instance: r.rec.Instance(), Pid: uint32(os.Getpid()), ChunkFile: size, Limit: p.Limit, Slot: r.member.slot,
		MinSpare: min(max(2*r.rec.Choices(), burst/size), int(r.limit)/size/minChunks), Pressed: r.rec.Choices() + 1, Clock: r.rec.Clock().Kind(), Keeper: r.rec.AnchorWriter(), Anchor: r.rec.Clock().Anchor,
	})
	if errors.Is(err, ring.ErrLimit) { // it shrank meanwhile
		err = fmt.Errorf("%w: %w", ErrSmall, err)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	r.rec.Use(r.ring)
	r.member.makeRoom(r.ring)
	r.dict = dict.New(file, dict.Config{Limit: r.limit / dictShare, Charge: r.ring.Charge, LabelName: func(number uint32) (string, uint32) {
		l, _ := registry.LabelNamed(number) // it was found before
		return l.Name, l.Category
	}})
	r.chooseCPU(p)
	r.tracer.open(p, r.limit)
	return chunks.WriteRecords(r.files, chunks.MetaFile.FileName(0), r.header(rawformat.MagicMeta), p.meta(r, size)...)
}

// divide makes the shards and returns the size of a chunk file, at most that.
// Where the limit is small, chunks get smaller, then shards fewer.
func (r *Recorder) divide(most int) (size int, err error) {
	writers := 1
	for writers < min(max(runtime.GOMAXPROCS(0), runtime.NumCPU()), shard.MaxChoices) {
		writers *= 2
	}
	size = most
	rings := r.limit - r.limit/dictShare
	for size > minChunkSize && rings/int64(size) < int64(minChunks*2*writers) {
		size = max(minChunkSize, size/2/minChunkSize*minChunkSize)
	}
	for writers > 1 && rings/int64(size) < int64(minChunks*2*writers) {
		writers /= 2
	}
	if rings < 2*int64(size) {
		return 0, tooSmall(r.limit, 2*int64(size)*dictShare/(dictShare-1))
	}
	r.rec.MakeShards(writers, int(rings/int64(size)/minChunks))
	return size, nil
}

func tooSmall(limit, want int64) error {
	return fmt.Errorf("%w: %d bytes for this process, want %d", ErrSmall, limit, want)
}

// begin defines what is defined in the process, and has markers recorded. It is
// an error if the dictionary takes nothing.
func (r *Recorder) begin() error {
	err := registry.Defined.Attach(definitions{&r.keeper}, func(records [][]byte) error {
		r.define(records)
		if r.rec.Defined() == 0 {
			return fmt.Errorf("%w: none of %d definitions fits into a dictionary of %d bytes", ErrSmall, len(records), r.limit/dictShare)
		}
		return nil
	})
	if err != nil {
		return err
	}
	running.Store(r)
	r.rec.Contain(r.rec.WriteAnchor) // Err tells
	r.beginPaused()
	if r.pausers == 0 {
		r.rec.Contain(func() { r.pages.round(&r.keeper) }) // likewise
		r.rec.Admit()
	}
	r.rec.Contain(r.rec.Inherit) // likewise
	return nil
}

// abandon undoes create.
func (r *Recorder) abandon() error {
	r.rec.GiveUp()
	r.sampler.Close()
	r.tracer.close()
	err := r.close()
	return errors.Join(err, r.erase(), r.quitSession())
}
