package keeper

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"gprof/chunks"
	"gprof/chunks/mapping"
	"gprof/rawformat"
	"gprof/recorder/internal/registry"
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

func (k *Keeper) createDict(generation uint16) (*chunks.RecordFile, error) {
	k.generation = generation
	k.rec.BeginGeneration(generation)
	return chunks.CreateDict(k.files, k.rec.Instance(), uint32(generation), uint32(os.Getpid()))
}

func (k *Keeper) removeDict(generation uint16) error {
	return chunks.RemoveDict(k.files, uint32(generation))
}

// turnDictionary begins a new generation when the dictionary has outgrown its
// bound, or somebody has cut its file short. It is the keeper's, and done in these steps:
//
//  1. The new file gets all that was defined but stacks, so that every id but
//     theirs means the same in both.
//  2. Stacks are looked up in it from now on. Who has found one before, and comes
//     to a writer that has been turned, sees it by the generation, and writes pcs.
//  3. Each writer is turned: its chunk is closed, its next one names the new
//     generation. Nothing can be defined until all of them are, or are shut.
func (k *Keeper) turnDictionary() {
	if !k.rec.SwitchWriters() {
		return
	}
	k.buryDictionaries()
	if len(k.outgrown) > 0 && !k.dict.IsCut() || k.generation == maxGeneration || !k.dict.IsOutgrown() || !k.turning.TryLock() {
		return
	}
	defer k.turning.Unlock()
	registry.Defined.All(k.beginGeneration)
}

// beginGeneration has the dictionary go on in a new file, with what is defined until now.
func (k *Keeper) beginGeneration(records [][]byte) {
	old := outgrown{k.generation, k.dict.Size()}
	if k.dict.IsCut() {
		k.rec.Lose(rawformat.LostCut, 1, uint64(old.size))
		k.complain("dictionary", fmt.Errorf("%w: it is replaced", mapping.ErrCut))
	}
	next, err := chunks.CreateDict(k.files, k.rec.Instance(), uint32(old.generation)+1, uint32(os.Getpid()))
	if err == nil {
		err = k.dict.Turn(next, slices.Concat(records, k.counting.meter.Definitions()))
	}
	if err != nil {
		k.complain("dictionary", errors.Join(err, k.removeDict(old.generation+1)))
		return
	}
	k.generation++
	k.outgrown = append(k.outgrown, old)
	k.rec.SetDefined(len(records))
	k.rec.BeginGeneration(k.generation)
	k.rec.SwitchWriters()
}

// buryDictionaries removes the dictionaries that no chunk names.
func (k *Keeper) buryDictionaries() {
	k.outgrown = slices.DeleteFunc(k.outgrown, func(o outgrown) bool {
		if k.ring.Names(o.generation) {
			return false
		}
		k.complain("dictionary", k.removeDict(o.generation))
		k.ring.Charge(-o.size)
		return true
	})
}
