package corpus

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/pprof/profile"
)

// sums holds what a pprof file of a process holds: its samples by stack.
type sums struct {
	rows map[int32]sum // by node
}

type sum struct{ count, cpu int64 }

// add counts a sample. Stacks that come and go with a generation are not
// counted: nothing asks for them, and they would fill the memory.
func (s *sums) add(node int32, cpu int64, o *Options) {
	if !o.Grow {
		row := s.rows[node]
		s.rows[node] = sum{row.count + 1, row.cpu + cpu}
	}
}

// write writes the sums as an uncompressed pprof profile.
func (s *sums) write(name string, tree *Stacks) error {
	return create(name, s.profile(tree).WriteUncompressed)
}

func create(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

func (s *sums) profile(tree *Stacks) *profile.Profile {
	b := builder{tree: tree, locations: map[int32]*profile.Location{}, profile: &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 10_000_000, TimeNanos: realtime,
		Mapping: []*profile.Mapping{{ID: 1, Start: 4 << 20, Limit: 32 << 20, File: "/bin/shop", BuildID: "c0ffee", HasFunctions: true, HasFilenames: true, HasLineNumbers: true}},
	}}
	nodes := make([]int32, 0, len(s.rows))
	for node := range s.rows {
		nodes = append(nodes, node)
	}
	slices.SortFunc(nodes, cmp.Compare[int32])
	for _, node := range nodes {
		b.sample(node, s.rows[node])
	}
	return b.profile
}

// Profiles says what WriteProfiles writes.
type Profiles struct {
	Files   int
	Samples int // of each: stacks that differ, each with its values
	Stacks  int // from which those of all files are taken
	Seed    uint64
}

// WriteProfiles writes pprof files of one program, compressed, as <number>.pb.gz.
func WriteProfiles(dir string, o Profiles) error {
	tree := NewStacks(o.Seed, o.Stacks)
	for i := range o.Files {
		r := rand.New(rand.NewPCG(o.Seed, uint64(i)))
		s := sums{rows: map[int32]sum{}}
		for len(s.rows) < min(o.Samples, o.Stacks) {
			n := 1 + r.Int64N(3)
			s.rows[tree.leaves[r.IntN(len(tree.leaves))]] = sum{n, n*9_000_000 + r.Int64N(2_000_000)}
		}
		p := s.profile(tree)
		p.TimeNanos += int64(i) * 1_000_000_000
		p.DurationNanos = 30_000_000_000
		if err := create(filepath.Join(dir, fmt.Sprintf("%06d.pb.gz", i)), p.Write); err != nil {
			return err
		}
	}
	return nil
}

type builder struct {
	tree      *Stacks
	profile   *profile.Profile
	locations map[int32]*profile.Location // by function
}

func (b *builder) sample(node int32, s sum) {
	row := &profile.Sample{Value: []int64{s.count, s.cpu}}
	for node != 0 {
		parent, function := b.tree.at(node)
		row.Location = append(row.Location, b.location(function))
		node = parent
	}
	b.profile.Sample = append(b.profile.Sample, row)
}

func (b *builder) location(function int32) *profile.Location {
	l := b.locations[function]
	if l == nil {
		id := uint64(len(b.locations) + 1)
		f := &profile.Function{ID: id, Name: nameOf(function), SystemName: nameOf(function), Filename: fileOf(function)}
		l = &profile.Location{ID: id, Mapping: b.profile.Mapping[0], Address: 4<<20 + offsetOf(function), Line: []profile.Line{{Function: f, Line: int64(lineOf(function))}}}
		b.locations[function] = l
		b.profile.Function = append(b.profile.Function, f)
		b.profile.Location = append(b.profile.Location, l)
	}
	return l
}
