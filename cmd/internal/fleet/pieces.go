package fleet

import (
	"slices"
	"strings"

	"gprof/ingest"
)

// piece is a part of an input: some of its processes. They are read with the whole input at hand,
// so that clocks, names and what has expired are as if it were not divided.
type piece struct {
	Number    int      `json:"number"` // from 1; the first also tells what the input as a whole lost
	Processes []string `json:"processes"`
}

// process is one of an input, as far as dividing needs it.
type process struct {
	instance, parent string
	bytes            int64
}

// pieces are the inputs, of which those that are larger than size are divided by process. One that
// shares a process with another input stays whole: what depends on each other belongs together.
func pieces(all []placedInput, size int64) (list []placedInput) {
	held := map[string]int{}
	for _, in := range all {
		for _, instance := range in.Instances {
			held[instance]++
		}
	}
	shared := func(instance string) bool { return held[instance] > 1 }
	for _, in := range all {
		if in.Bytes <= size || len(in.processes) < 2 || slices.ContainsFunc(in.Instances, shared) {
			list = append(list, in)
			continue
		}
		list = append(list, in.divided(size)...)
	}
	return list
}

// divided are the pieces of an input.
func (in *placedInput) divided(size int64) (list []placedInput) {
	total := int64(1)
	for _, p := range in.processes {
		total += p.bytes
	}
	share := func(p process) int64 { return int64(float64(in.Bytes) * float64(p.bytes) / float64(total)) }
	for _, family := range families(in.processes) {
		together := int64(0)
		for _, p := range family {
			together += share(p)
		}
		for _, p := range family {
			last := len(list) - 1
			room := share(p)
			if together <= size {
				room = together
			}
			if first := p.instance == family[0].instance; last < 0 || (first || together > size) && list[last].Bytes+room > size {
				list = append(list, placedInput{service: in.service, day: in.day, member: member{Path: in.Path, Mark: in.Mark, Piece: &piece{Number: len(list) + 1}}})
				last++
			}
			at := &list[last]
			at.Bytes += share(p)
			at.Piece.Processes = append(at.Piece.Processes, p.instance)
			at.Instances = append(at.Instances, p.instance)
		}
	}
	if len(list) < 2 {
		return []placedInput{*in}
	}
	for i := range list {
		slices.Sort(list[i].Piece.Processes)
		slices.Sort(list[i].Instances)
	}
	return list
}

// families are processes with their descendants, in the order of the first of each.
func families(all []process) (list [][]process) {
	at, known := map[string]int{}, map[string]process{}
	for _, p := range all {
		known[p.instance] = p
	}
	for _, p := range all {
		first := p
		for range all { // at most: a recording may say anything of its parents
			parent, ok := known[first.parent]
			if !ok {
				break
			}
			first = parent
		}
		i, ok := at[first.instance]
		if !ok {
			i = len(list)
			at[first.instance] = i
			list = append(list, nil)
		}
		list[i] = append(list[i], p)
	}
	return list
}

// inputsIn counts the inputs of which a list has all, or the first piece.
func inputsIn(list []member) (n int) {
	for _, in := range list {
		if in.Piece.tells() {
			n++
		}
	}
	return n
}

// tells reports whether the piece, or the whole input, is the one that tells what the input lost.
func (p *piece) tells() bool { return p == nil || p.Number == 1 }

// restrict leaves of what was found only the processes of a piece.
func (p *piece) restrict(found *ingest.Found) {
	if p == nil {
		return
	}
	found.Keep(func(name string) bool { _, ok := slices.BinarySearch(p.Processes, name); return ok }, p.tells())
}

// key tells pieces of an input apart.
func (p *piece) key() string {
	if p == nil {
		return ""
	}
	return "\x00" + strings.Join(p.Processes, " ")
}
