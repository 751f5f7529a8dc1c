package why_test

import (
	"testing"
	"time"

	"gprof/convert/why"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// story is a made-up recording of ten seconds: what a test tells of it, ten times a second.
type story struct {
	*streamtest.Builder
	p        *streamtest.Process
	counters map[string]stream.CounterID
	events   map[string]stream.EventID
	totals   map[string]int64
}

const (
	seconds = 10
	ticks   = 10 * seconds
	tick    = stream.Time(time.Second) / 10
	onset   = ticks / 2
)

// begun is when stories begin; a program does not begin in 1970.
const begun = stream.Time(1_800_000_000 * time.Second)

func newStory(exit stream.Exit) *story {
	s := &story{Builder: streamtest.NewBuilder(), counters: map[string]stream.CounterID{}, events: map[string]stream.EventID{}, totals: map[string]int64{}}
	s.process(stream.Process{Instance: 7, Pid: 7, Name: "shop", Exit: exit})
	return s
}

// process begins another process of the story.
func (s *story) process(p stream.Process) {
	p.Go, p.OS, p.CPUs, p.Interval = "go1.26", "linux", 4, int64(10*time.Millisecond)
	if p.Start == 0 {
		p.Start = begun
	}
	if p.End == 0 {
		p.End = begun + ticks*tick
	}
	s.p = s.Process(p)
	clear(s.counters)
	clear(s.totals)
}

// killed is the end of most stories.
var killed = stream.Exit{Known: true, Reason: "killed", Code: 9}

func at(n int) stream.Time { return begun + stream.Time(n)*tick }

// level says what a counter shows.
func (s *story) level(n int, name string, value float64) {
	s.count(n, name, value, stream.Counter{})
}

// gain says by how much a counter grew; in seconds if it is a time.
func (s *story) gain(n int, name string, value float64, unit stream.Format) {
	if unit == stream.FormatNanoseconds {
		value *= 1e9
	}
	s.totals[name] += int64(value)
	s.count(n, name, float64(s.totals[name]), stream.Counter{Total: true, Unit: unit})
}

func (s *story) count(n int, name string, value float64, c stream.Counter) {
	if s.counters[name] == 0 {
		c.Name, c.Own = name, true
		s.counters[name] = s.p.Counter(c)
	}
	s.p.Count(at(n), s.counters[name], int64(value), 0)
}

// marks says that so many markers ended within a tick, each of which took so long.
func (s *story) marks(n int, name string, number int, took time.Duration) {
	if s.events[name] == 0 {
		s.events[name] = s.Event(stream.Event{Name: name})
	}
	for i := range number {
		end := at(n) + stream.Time(i+1)*tick/stream.Time(number+1)
		s.p.Main.Interval(end-stream.Time(took), int64(took), s.events[name])
	}
}

// waits says that so many goroutines waited for a tick. Functions are outermost first.
func (s *story) waits(n, goroutines int, reason string, functions ...string) {
	if goroutines > 0 {
		stack := s.Stack(functions...)
		label := s.Tables.Strings.Intern("waiting: " + reason)
		stack = s.Tables.Stacks.Intern(stack, s.Tables.Frames.Intern(stream.Frame{Function: label, Label: true}))
		s.p.Main.Wait(at(n), stack, int64(goroutines)*int64(tick), int64(goroutines))
	}
}

// logs says that so many records were logged within a tick.
func (s *story) logs(n int, level, message string, number int) {
	if s.events["log"] == 0 {
		s.events["log"] = s.Event(stream.Event{Name: "log", Type: "log", Fields: []stream.EventField{{Name: "level", Type: stream.Text}, {Name: "message", Type: stream.Text}}})
	}
	for range number {
		s.p.Main.Mark(at(n), stream.Instant, s.events["log"], level, message)
	}
}

// runs says that processors ran a stack for a tick.
func (s *story) runs(n int, processors float64, functions ...string) {
	s.p.Main.Add(streamtest.Row{Time: at(n), Stack: s.Stack(functions...), Weight: 1, CPU: int64(processors * float64(tick))})
}

// report is what why says of the story.
func (s *story) report(t *testing.T) why.Report {
	t.Helper()
	sink := why.New(why.Options{})
	if err := stream.Copy(streamtest.Validate(sink), s.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return sink.Report
}
