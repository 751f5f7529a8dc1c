package tables

import (
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// The stacks below one have the ids up to its last_id, in each part those that it has, and outermost
// are those whose callers have other names, whatever frames make them.
func TestTree(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	b := streamtest.NewBuilder()
	var stacks []stream.StackID
	for i := range 2000 {
		above := stream.StackID(0)
		if i > 0 && random.IntN(20) > 0 {
			above = stacks[random.IntN(len(stacks))]
		}
		name := b.Tables.Strings.Intern("f" + strconv.Itoa(random.IntN(30)))
		stacks = append(stacks, b.Tables.Stacks.Intern(above, b.Tables.Frames.Intern(stream.Frame{Function: name, Line: int32(random.IntN(3))})))
	}
	for i, service := range []string{"a", "b", "c"} {
		p := b.Process(stream.Process{Instance: uint64(i + 1), Service: service})
		for n := range []int{1, 40, 900}[i] {
			p.Main.Sample(stream.Time(n), stacks[random.IntN(len(stacks))])
		}
	}
	written := &forests{}
	format := Format{Extension: ".x", Begin: func(_ io.Writer, d *Definition, _ int) Writer {
		if d.Name == "stacks" {
			return written
		}
		return nothing{}
	}}
	var count stream.Count
	if err := stream.Copy(stream.Tee(New(nowhere{}, format, Options{}), &count), b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	if len(written.parts) != 3 {
		t.Fatalf("%d parts", len(written.parts))
	}
	names := func(f int32) stream.StringID { return count.Tables.Frames.At(stream.FrameID(f)).Function }
	for _, rows := range written.parts {
		checkForest(t, rows, names)
	}
}

// checkForest compares rows of stacks with what their prefixes say.
func checkForest(t *testing.T, rows []stackRow, name func(frame int32) stream.StringID) {
	t.Helper()
	byID, last := map[int32]stackRow{}, map[int32]int32{}
	for _, r := range rows {
		byID[r.id] = r
	}
	for _, r := range rows {
		inner := false
		for at := r.id; at != 0; at = byID[at].prefix {
			last[at] = max(last[at], r.id)
			inner = inner || at != r.id && name(byID[at].frame) == name(r.frame)
		}
		if inner == r.outermost {
			t.Errorf("stack %d: outermost is %v", r.id, r.outermost)
		}
	}
	if !slices.IsSortedFunc(rows, func(a, b stackRow) int { return int(a.id - b.id) }) {
		t.Error("stacks are not in the order of their ids")
	}
	for _, r := range rows {
		below := 0
		for at := range byID {
			if up := at; r.id < at && at <= r.last {
				for up > r.id {
					up = byID[up].prefix
				}
				if below++; up != r.id {
					t.Errorf("stack %d is not below %d, whose last is %d", at, r.id, r.last)
				}
			}
		}
		if r.last != last[r.id] {
			t.Errorf("stack %d: last %d, want %d; %d are below", r.id, r.last, last[r.id], below)
		}
	}
}

// stackRow is a row of stacks.
type stackRow struct {
	id, last, prefix, frame int32
	outermost               bool
}

// forests are the rows of tables of stacks.
type forests struct {
	nothing
	parts [][]stackRow
}

func (f *forests) Write(columns []Values, done func()) error {
	defer done()
	var rows []stackRow
	for i := range columns[1].Rows {
		r := stackRow{columns[1].Shorts[i], columns[2].Shorts[i], columns[4].Shorts[i], columns[5].Shorts[i], columns[6].Flags[i]}
		rows = append(rows, r)
	}
	f.parts = append(f.parts, rows)
	return nil
}
