package recorder

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"gprof/chunks"
	"gprof/chunks/mapping"
	"gprof/rawformat"
	"gprof/recorder/internal/keeper"
	"gprof/recorder/internal/shard"
)

// open sets a recording up, in the order in which the parts need each other:
//
//  1. Settings and sizes.
//  2. Directory and lock, dictionary, ring, CPU sampler, meta.
//  3. The definitions; from here on markers are recorded.
//  4. The goroutines of the keeper.
//
// If a step fails the directory is removed.
func open(o Options) (*Recorder, error) {
	p, err := o.plan()
	if err != nil {
		return nil, err
	}
	faults := mapping.Faults() // before any file is mapped
	r := &Recorder{session: p.session, features: p.Features, dumpDir: p.Dump}
	r.rec = shard.Open(shard.Config{Instance: newInstance(), Markers: p.Features.Has(FeatureMarkers), Stacks: p.Features.Has(FeatureStacks), FaultErr: p.catchFaults()})
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

// keeping is what the keeper is to do.
func (r *Recorder) keeping(p *plan, faults uint32) keeper.Config {
	c := keeper.Config{
		Recording: r.rec, Files: r.files, Session: p.session, Limit: p.Limit, Asked: p.asked, Keep: p.Keep, ChunkSize: p.ChunkSize, Faults: faults,
		Markers: p.Features.Has(FeatureMarkers), Wants: trackFilter(p.Tracks).wants, CounterHz: max(0, p.CounterHz), HeapEvery: max(0, p.HeapEvery),
		WaitHz: p.WaitHz, TraceBehind: p.TraceBehind, Traceable: p.traceable,
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
	var b [8]byte
	rand.Read(b[:]) // never fails
	return max(1, binary.LittleEndian.Uint64(b[:]))
}

func instanceName(instance uint64) string { return fmt.Sprintf("%016x", instance) }

// create makes what lies in the directory.
func (r *Recorder) create(p *plan) error {
	if err := r.makeDir(p); err != nil {
		return err
	}
	if err := r.keeper.Open(); err != nil {
		return err
	}
	r.chooseCPU(p)
	return chunks.WriteRecords(r.files, chunks.MetaName, r.header(rawformat.MagicMeta), p.meta(r)...)
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
