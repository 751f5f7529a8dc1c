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
	width  int              // words of a sum: its key and its values
	at     []int32          // by StackID: 1 + the index of its first sum, 0 none
	others map[sumKey]int32 // indexes of further ones: those of other labels
	pages  [][]int64        // of pageSums each: a slice of all would be copied as it grows
	n      int32            // sums

	touched int64 // so that what approach reads is read
}

// sumKey is the stack of a sum, and below it, by which sums are in order, too, its labels.
type sumKey int64

func keyOf(stack stream.StackID, labels stream.LabelsID) sumKey {
	return sumKey(stack)<<32 | sumKey(labels)
}

func (k sumKey) stack() stream.StackID   { return stream.StackID(k >> 32) }
func (k sumKey) labels() stream.LabelsID { return stream.LabelsID(uint32(k)) }

const (
	// maxOtherSums bounds the sums besides one for each stack: label sets may be as many as samples.
	maxOtherSums = 1 << 16

	pageBits = 10
	pageSums = 1 << pageBits
)

func newSums(t *stream.Tables, width int) sums {
	return sums{width: 1 + width, at: make([]int32, t.Stacks.Len()+1), others: make(map[sumKey]int32)}
}

// row is the words of a sum, by its index.
func (s *sums) row(i int32) []int64 {
	return s.pages[i>>pageBits][int(i&(pageSums-1))*s.width:][:s.width]
}

// sum is a sum by its index: its key, and its values.
func (s *sums) sum(i int32) (key sumKey, values []int64) {
	row := s.row(i)
	return sumKey(row[0]), row[1:]
}

// approachAll reads what of will look at for some totals, so that the cache misses overlap.
func (s *sums) approachAll(all []totals.Total) {
	var ats [locations.Together]int32
	for i := range all {
		ats[i] = s.at[all[i].Stack]
	}
	for _, at := range ats[:len(all)] {
		if at != 0 {
			s.touched += int64(s.stackAt(at - 1))
		}
	}
}

// stackAt is the stack of a sum.
func (s *sums) stackAt(i int32) stream.StackID {
	key, _ := s.sum(i)
	return key.stack()
}

// of returns the values of a sum, all 0 if new.
func (s *sums) of(key sumKey) []int64 {
	if at := s.at[key.stack()]; at != 0 {
		if known, values := s.sum(at - 1); known == key {
			return values
		}
		if i, ok := s.others[key]; ok {
			_, values := s.sum(i)
			return values
		}
	}
	return s.add(key)
}

func (s *sums) add(key sumKey) []int64 {
	if s.at[key.stack()] == 0 {
		s.at[key.stack()] = s.n + 1
	} else {
		s.others[key] = s.n
	}
	if int(s.n>>pageBits) == len(s.pages) {
		s.pages = append(s.pages, make([]int64, pageSums*s.width))
	}
	row := s.row(s.n)
	row[0] = int64(key)
	clear(row[1:])
	s.n++
	return row[1:]
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
			values := s.sums.of(keyOf(total.Stack, total.Owner.Labels))
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
	if s.sums.n == 0 {
		return
	}
	var stacks [locations.Together]stream.StackID
	for some := range slices.Chunk(s.sums.order(s.imported.Alone != nil), locations.Together) {
		for k, i := range some {
			stacks[k] = s.sums.stackAt(i)
		}
		s.locations.Approach(stacks[:len(some)])
		for _, i := range some {
			key, values := s.sums.sum(i)
			s.sample(key.stack(), stream.Owner{Labels: key.labels()}, values)
		}
	}
	clear(s.sums.at)
	clear(s.sums.others)
	s.sums.n = 0
}

// order is the indexes of all sums: as they came, or by stack and labels.
func (s *sums) order(came bool) []int32 {
	order := make([]int32, 0, s.n)
	if !came && len(s.others) == 0 {
		for _, at := range s.at {
			if at != 0 {
				order = append(order, at-1)
			}
		}
		return order
	}
	for i := range s.n {
		order = append(order, i)
	}
	if !came {
		slices.SortFunc(order, func(i, j int32) int {
			a, _ := s.sum(i)
			b, _ := s.sum(j)
			return cmp.Compare(a, b)
		})
	}
	return order
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
