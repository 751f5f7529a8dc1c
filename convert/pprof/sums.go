package pprof

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gprof/convert/internal/locations"
	"gprof/convert/internal/totals"
	"gprof/rawformat/profileproto"
	"gprof/stream"
)

// sums sums up the samples of all processes and tracks, by stack and labels of the program.
type sums struct {
	width  int              // values of a sample
	at     []int32          // by StackID: 1 + its first index in keys, 0 none
	others map[sumKey]int32 // where further ones are: those of other labels
	keys   []sumKey
	values []int64 // width of each

	touched int64 // so that what approach reads is read
}

type sumKey struct {
	stack  stream.StackID
	labels stream.LabelsID
}

// maxOtherSums bounds the sums besides one for each stack: label sets may be as many as samples.
const maxOtherSums = 1 << 16

func newSums(t *stream.Tables, width int) sums {
	return sums{width: width, at: make([]int32, t.Stacks.Len()+1), others: make(map[sumKey]int32)}
}

// approachAll reads what of will look at for some totals, so that the cache misses overlap.
func (s *sums) approachAll(all []totals.Total) {
	var ats [locations.Together]int32
	for i := range all {
		ats[i] = s.at[all[i].Stack]
	}
	for _, at := range ats[:len(all)] {
		if at != 0 {
			s.approach(at)
		}
	}
}

// approach reads a sum, whose stack it returns.
func (s *sums) approach(at int32) stream.StackID {
	s.touched += s.values[int(at-1)*s.width]
	return s.keys[at-1].stack
}

// of returns the values of a sum, all 0 if new.
func (s *sums) of(key sumKey) []int64 {
	at := s.at[key.stack] - 1
	if at >= 0 && s.keys[at] != key {
		var ok bool
		if at, ok = s.others[key]; !ok {
			at = -1
		}
	}
	if at < 0 {
		at = s.add(key)
	}
	return s.values[int(at)*s.width:][:s.width]
}

func (s *sums) add(key sumKey) (at int32) {
	at = int32(len(s.keys))
	if s.at[key.stack] == 0 {
		s.at[key.stack] = at + 1
	} else {
		s.others[key] = at
	}
	s.keys = append(s.keys, key)
	s.values = append(s.values, make([]int64, s.width)...)
	return at
}

// addTrack adds the totals of a track to those of all. When there are too many of them
// they are written, and further ones of the same are samples of their own: readers
// add those up.
func (s *Sink) addTrack(of *totals.Part) {
	for some := range of.Chunks(locations.Together) {
		s.sums.approachAll(some)
		for i := range some {
			total := &some[i]
			if total.Zero() && s.imported.Alone == nil {
				continue
			}
			values := s.sums.of(sumKey{total.Stack, total.Owner.Labels})
			for i, v := range s.types.ValuesOf(total, of.Measure) {
				values[i] = totals.Sum(values[i], v)
			}
			if len(s.sums.others) == maxOtherSums {
				s.writeSums()
			}
		}
	}
}

// writeSums writes and drops the sums, by stack and labels. In the order of ids, stacks share most
// of their callers with the one before, which is a lot faster.
func (s *Sink) writeSums() {
	if len(s.sums.keys) == 0 {
		return
	}
	var stacks [locations.Together]stream.StackID
	for some := range slices.Chunk(s.sums.order(s.imported.Alone != nil), locations.Together) {
		for k, i := range some {
			stacks[k] = s.sums.approach(i + 1)
		}
		s.locations.Approach(stacks[:len(some)])
		for _, i := range some {
			s.writeSum(int(i))
		}
	}
	clear(s.sums.at)
	clear(s.sums.others)
	s.sums.keys, s.sums.values = s.sums.keys[:0], s.sums.values[:0]
}

// order is the indexes of all sums: as they came, or by stack and labels.
func (s *sums) order(came bool) []int32 {
	order := make([]int32, 0, len(s.keys))
	if !came && len(s.others) == 0 {
		for _, at := range s.at {
			if at != 0 {
				order = append(order, at-1)
			}
		}
		return order
	}
	for i := range s.keys {
		order = append(order, int32(i))
	}
	if !came {
		slices.SortFunc(order, func(i, j int32) int {
			a, b := s.keys[i], s.keys[j]
			return cmp.Or(cmp.Compare(a.stack, b.stack), cmp.Compare(a.labels, b.labels))
		})
	}
	return order
}

func (s *Sink) writeSum(i int) {
	key := s.sums.keys[i]
	s.sample(key.stack, stream.Owner{Labels: key.labels}, s.sums.values[i*s.sums.width:][:s.sums.width])
}

// sumComment says which addresses are made up, for a reader that sums up sums; telling: it says
// more than a reader would think without it.
func (s *Sink) sumComment() (text string, telling bool) {
	program, madeUp := 0, []string{}
	for i := range s.modules.List {
		at := &s.modules.List[i]
		if program == 0 && at.Module == s.modules.Program && (at.Used() || at.Came) {
			program = i + 1
		}
		if at.Used() && !at.Came {
			madeUp = append(madeUp, strconv.Itoa(i+1))
		}
	}
	return fmt.Sprintf(profileproto.CommentSum, program, strings.Join(madeUp, " ")), program > 1 || len(madeUp) > 0
}
