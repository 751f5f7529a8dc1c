package recorder

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"gprof/chunks"
	"gprof/rawformat"
)

// A dictionary grows with what is unique, and is bounded. When it has grown to
// half of its bound a new generation begins: a file with what the program defined,
// and ids of stacks from 1 again. The old one goes when no chunk names it any more.

// outgrown is a dictionary that takes no more definitions.
type outgrown struct {
	generation uint16
	size       int64
}

// maxGeneration is the highest number that a chunk's header has room for.
const maxGeneration = 1<<16 - 1

func (r *Recorder) createDict(generation uint16) (*chunks.RecordFile, error) {
	r.generation = generation
	r.known.forget(generation)
	return chunks.CreateDict(r.dir, r.instance, uint32(generation), uint32(os.Getpid()))
}

func (r *Recorder) removeDict(generation uint16) error {
	return chunks.RemoveDict(r.dir, uint32(generation))
}

// turnDictionary begins a new generation when the dictionary has outgrown its
// bound, or somebody has cut its file short. It is the housekeeper's, and done in these steps:
//
//  1. The new file gets all that was defined but stacks, so that every id but
//     theirs means the same in both.
//  2. Stacks are looked up in it from now on. Who has found one before, and comes
//     to a writer that has been turned, sees it by the generation, and writes pcs.
//  3. Each writer is turned: its chunk is closed, its next one names the new
//     generation. Nothing can be defined until all of them are, or are shut.
func (r *Recorder) turnDictionary() {
	if !r.turnWriters() {
		return
	}
	r.buryDictionaries()
	if len(r.outgrown) > 0 && !r.dict.isCut() || r.generation == maxGeneration || !r.dict.isOutgrown() || !r.turning.TryLock() {
		return
	}
	defer r.turning.Unlock()
	defined.mu.Lock()
	defer defined.mu.Unlock()
	old := outgrown{r.generation, r.dict.size()}
	if r.dict.isCut() {
		r.lose(rawformat.LostCut, 1, uint64(old.size))
		r.complain("dictionary", fmt.Errorf("%w: it is replaced", chunks.ErrCut))
	}
	next, err := chunks.CreateDict(r.dir, r.instance, uint32(old.generation)+1, uint32(os.Getpid()))
	if err == nil {
		err = r.dict.turn(next, slices.Concat(defined.records, r.meter.defined))
	}
	if err != nil {
		r.complain("dictionary", errors.Join(err, r.removeDict(old.generation+1)))
		return
	}
	r.generation++
	r.outgrown = append(r.outgrown, old)
	r.defined.Store(uint32(len(defined.records)))
	r.known.forget(r.generation)
	r.turnWriters()
}

// turnWriters turns the writers that name an older generation, and reports whether
// all are turned. One that is at work, perhaps without its thread, is not waited
// for: it stays shut, and is turned in a later round. The block that it writes knows
// nothing that is defined from now on.
func (r *Recorder) turnWriters() (all bool) {
	all = true
	for i := range r.shards {
		s := &r.shards[i]
		if s.generation == r.generation {
			continue
		}
		if !r.seize(s) {
			all = false
			continue
		}
		r.retire(s)
		s.generation = r.generation
		disclaim(s)
	}
	return all
}

// buryDictionaries removes the dictionaries that no chunk names.
func (r *Recorder) buryDictionaries() {
	r.outgrown = slices.DeleteFunc(r.outgrown, func(o outgrown) bool {
		if r.ring.Names(o.generation) {
			return false
		}
		r.complain("dictionary", r.removeDict(o.generation))
		r.ring.Charge(-o.size)
		return true
	})
}
