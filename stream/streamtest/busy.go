package streamtest

import (
	"fmt"
	"math/rand/v2"

	"gprof/stream"
)

// Busy returns a Builder with three processes and about so many rows of all kinds, in no
// order.
func Busy(rows int) *Builder {
	r := rand.New(rand.NewPCG(1, 2))
	b := NewBuilder()
	var events []stream.EventID
	for i := range 3 {
		events = append(events, b.Event(stream.Event{Name: fmt.Sprint("e", i/2), Category: b.Category(fmt.Sprint("c", i), "blue"),
			Fields: []stream.EventField{{Name: "n", Type: stream.Int}, {Name: "s", Type: stream.Text}}}))
	}
	var tracks []*Track
	var processes []*Process
	for i := range 3 {
		p := b.Process(stream.Process{Instance: uint64(100 - i), Pid: 1, Name: "busy", Start: stream.Time(i / 2)})
		processes = append(processes, p)
		tracks = append(tracks, p.Main, p.Track("a"), p.Track("b"))
	}
	stacks := []stream.StackID{0}
	for range 300 {
		frame := stream.Frame{Function: b.Tables.Strings.Intern(fmt.Sprint("f", r.IntN(40))), Line: r.Int32N(3),
			Module: b.Tables.Modules.Intern(stream.Module{Name: fmt.Sprint("m", r.IntN(3))})}
		stacks = append(stacks, b.Tables.Stacks.Intern(stacks[r.IntN(len(stacks))], b.Tables.Frames.Intern(frame)))
	}
	for range rows {
		at, k, p := stream.Time(r.IntN(1000)), tracks[r.IntN(len(tracks))], processes[r.IntN(3)]
		switch r.IntN(8) {
		case 0:
			k.Mark(at, stream.Phase(0), events[r.IntN(3)], r.IntN(100), fmt.Sprint(r.IntN(1000)))
		case 1:
			k.Interval(at, r.Int64N(100), events[r.IntN(3)], nil, "text")
		case 2:
			k.Delay(at, r.Int64N(1000))
		case 3:
			p.Count(at, p.Counter(stream.Counter{Name: fmt.Sprint("n", r.IntN(2))}), r.Int64N(100), 1)
		case 4:
			p.Log(at, r.Int64N(3), "log")
		default:
			k.Sample(at, stacks[r.IntN(len(stacks))])
		}
	}
	return b
}
