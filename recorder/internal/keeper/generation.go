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

// A dictionary grows with everything that is unique, and is bounded. When it has grown to
// half of its bound a new generation begins: a file with the program's definitions, in which
// ids of stacks begin with 1 again. The old file is removed when no chunk names it any more.

// oldDict is a dictionary that takes no more definitions.
type oldDict struct {
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

// rotateDictionary begins a new generation when the dictionary has outgrown its bound, or
// somebody has cut its file short. Only the keeper calls it. The steps:
//
//  1. The new file gets all definitions but stacks, so that all other ids mean the same in
//     both.
//  2. Stacks are looked up in the new one from now on. A marker that has found its stack
//     before, and then gets a writer that has been switched, sees that the generations
//     differ, and writes pcs.
//  3. Each writer is switched: its chunk is closed, and its next one names the new
//     generation. Nothing can be defined until all writers are switched or shut.
func (k *Keeper) rotateDictionary() {
	if !k.rec.SwitchWriters() {
		return
	}
	k.removeOldDictionaries()
	if len(k.oldDicts) > 0 && !k.dict.IsCut() || k.generation == maxGeneration || !k.dict.IsOutgrown() || !k.rotating.TryLock() {
		return
	}
	defer k.rotating.Unlock()
	registry.Defined.All(k.beginGeneration)
}

// beginGeneration continues the dictionary in a new file that has all definitions so far. Root functions are named
// first, because chunks of markers that have been made name the old file.
func (k *Keeper) beginGeneration(records [][]byte) {
	k.rec.NameRoots(k.dict)
	old := oldDict{k.generation, k.dict.Size()}
	if k.dict.IsCut() {
		k.rec.Lose(rawformat.LostCut, 1, uint64(old.size))
		k.complain("dictionary", fmt.Errorf("%w: it is replaced", mapping.ErrCut))
	}
	next, err := chunks.CreateDict(k.files, k.rec.Instance(), uint32(old.generation)+1, uint32(os.Getpid()))
	if err == nil {
		if err = k.dict.Turn(next, slices.Concat(records, k.counting.meter.Definitions())); err != nil {
			err = errors.Join(err, k.removeDict(old.generation+1))
		}
	}
	if err != nil {
		k.complain("dictionary", err)
		return
	}
	k.generation++
	k.oldDicts = append(k.oldDicts, old)
	k.rec.SetDefined(len(records))
	k.rec.BeginGeneration(k.generation)
	k.rec.SwitchWriters()
}

// removeOldDictionaries removes the dictionaries that no chunk names.
func (k *Keeper) removeOldDictionaries() {
	k.oldDicts = slices.DeleteFunc(k.oldDicts, func(o oldDict) bool {
		if k.ring.Names(o.generation) {
			return false
		}
		k.complain("dictionary", k.removeDict(o.generation))
		k.ring.Charge(-o.size)
		return true
	})
}
