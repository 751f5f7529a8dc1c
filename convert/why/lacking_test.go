package why_test

import (
	"strings"
	"testing"
	"time"

	"gprof/convert/why"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// lacking is a story of trouble of which the recording has a part.
type lacking struct {
	name     string
	tell     func(s *story)
	exit     stream.Exit
	alive    bool
	detector string // of the only finding above a note; "": none
	severity why.Severity
	unsaid   string // no finding names it: nothing tells
	unknown  string // what the report says instead; "": nothing in particular
}

func leak(s *story, counters, heap bool) {
	for n := range ticks {
		if counters {
			s.level(n, "heap live", float64(10+n*5)*(1<<20))
			s.level(n, "goroutines", 9)
		}
		if heap {
			s.p.Main.Allocate(at(n), stream.Instant, s.Stack("main.main", "main.keep", "runtime.mallocgc"), 5<<20, 10)
		}
		s.marks(n, "request", 3, 2*time.Millisecond)
	}
}

var lackings = []lacking{
	{
		name: "a leak without heap samples", exit: killed, detector: "heap growth", severity: why.Likely, unsaid: "main.", unknown: "what fills the heap: there are no heap samples",
		tell: func(s *story) { leak(s, true, false) },
	},
	{
		name: "a leak without counters", exit: killed, unsaid: "main.keep", unknown: "whether the heap grew: there are no counters",
		tell: func(s *story) { leak(s, false, true) },
	},
	{
		name: "a leak in a program that may live on", alive: true, detector: "heap growth", severity: why.Cause,
		tell: func(s *story) { leak(s, true, true) },
	},
	{
		name: "a leak in a program that was found dead", detector: "heap growth", severity: why.Cause,
		tell: func(s *story) { leak(s, true, true) },
	},
	{
		name: "a queue at a lock without waits", exit: killed, detector: "slow marker", severity: why.Likely, unsaid: "main.", unknown: "what goroutines waited for: there are no waits",
		tell: func(s *story) {
			for n := range ticks {
				s.marks(n, "request", 10, time.Duration(1+n/onset*80)*time.Millisecond)
			}
		},
	},
	{
		name: "a loop without end, without samples", exit: killed, unsaid: "main.", unknown: "what took CPU time: there are no CPU samples",
		tell: func(s *story) {
			for n := range ticks {
				s.gain(n, "process CPU", 0.02+0.1*float64(n/onset), stream.FormatNanoseconds)
				s.marks(n, "order", 5, time.Millisecond)
			}
		},
	},
	{
		name: "requests that are no intervals", exit: killed, unsaid: "order", unknown: "no marker has a duration",
		tell: func(s *story) {
			for n := range ticks {
				s.events["order"] = max(s.events["order"], s.Event(stream.Event{Name: "order"}))
				s.p.Main.Mark(at(n), stream.Instant, s.events["order"])
			}
		},
	},
}

// Without some kinds of rows the trouble is not guessed at: what can't be told is said, and no place is named.
func TestLacking(t *testing.T) {
	for _, c := range lackings {
		t.Run(c.name, func(t *testing.T) {
			s := newStory(c.exit)
			c.tell(s)
			sink := why.New(why.Options{Ended: func(*stream.Process) bool { return !c.alive }})
			if err := stream.Copy(streamtest.Validate(sink), s.Source(), stream.CopyOptions{}); err != nil {
				t.Fatal(err)
			}
			r := sink.Report
			checkReport(t, &r)
			found := ""
			for _, f := range r.Findings {
				if f.Severity > why.Note {
					found += f.Detector
				}
				if said := f.Text + strings.Join(f.Evidence, " "); c.unsaid != "" && strings.Contains(said, c.unsaid) {
					t.Errorf("nothing tells of %s: %+v", c.unsaid, f)
				}
			}
			if found != c.detector || found != "" && r.Findings[0].Severity != c.severity {
				t.Errorf("found %q, want %q: %+v", found, c.detector, r.Findings)
			}
			if !strings.Contains(strings.Join(r.Unknown, "\n"), c.unknown) {
				t.Errorf("%q does not say %q", r.Unknown, c.unknown)
			}
		})
	}
}

// A process of less than a second is not compared, and what it began with is no growth in one of a second.
func TestShort(t *testing.T) {
	for length, want := range map[stream.Time]bool{9: false, 10: true} {
		s := newStory(killed)
		s.Tables.Processes[0].End = begun + length*tick
		for n := range int(length) {
			s.level(n, "heap live", float64(min(4*n, 12))*(1<<20))
			s.level(n, "goroutines", float64(min(50*n, 150)))
			s.marks(n, "request", 3, time.Duration(20/(n+1)+1)*time.Millisecond)
			s.runs(n, 0.5, "main.main", "main.load")
			s.waits(n, min(50*n, 150), "channel receive", "main.worker")
		}
		r := s.report(t)
		if len(r.Findings) > 0 && (!want || r.Findings[0].Severity > why.Note) {
			t.Errorf("in %d ticks: %+v", length, r.Findings)
		}
		if compared := !strings.Contains(strings.Join(r.Unknown, "\n"), "less than a second"); compared != want {
			t.Errorf("in %d ticks: %q", length, r.Unknown)
		}
	}
}

// A week of which the last two minutes went wrong is as well known as ten seconds.
func TestWeek(t *testing.T) {
	s := newStory(killed)
	const week, trouble = stream.Time(7 * 24 * time.Hour), stream.Time(2 * time.Minute)
	s.Tables.Processes[0].Start = begun - week
	request := s.Event(stream.Event{Name: "request"})
	asks := s.Stack("main.serve", "main.ask", "net/http.(*Client).Do")
	asks = s.Tables.Stacks.Intern(asks, s.Tables.Frames.Intern(stream.Frame{Function: s.Tables.Strings.Intern("waiting: network"), Label: true}))
	end := s.Tables.Processes[0].End
	for from := begun - week; from < end-stream.Time(time.Second); from += stream.Time(time.Second) {
		took := 2 * time.Millisecond
		if from > end-trouble {
			took = 200 * time.Millisecond
		} else if from < end-10*stream.Time(time.Minute) {
			from += stream.Time(time.Minute)
		}
		for n := range stream.Time(10) {
			s.p.Main.Interval(from+n*tick, int64(took), request)
			s.p.Main.Wait(from+n*tick, asks, int64(took), 1)
		}
	}
	r := s.report(t)
	checkReport(t, &r)
	if len(r.Findings) == 0 || r.Findings[0].Detector != "slow dependency" || r.Findings[0].Severity != why.Cause || !strings.Contains(r.Findings[0].Text, "instead of 2.0 ms: it waits for another program in main.ask") {
		t.Errorf("%+v", r.Findings)
	}
}

// Of a file of another tool, of which little is known, nothing is missed that its programs don't have.
func TestForeign(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 1, Name: "cpp", Start: begun, End: begun + ticks*tick, Interval: int64(10 * time.Millisecond)})
	for n := range ticks {
		function := "serve"
		if n >= onset {
			function = "spin"
		}
		p.Main.Add(streamtest.Row{Time: at(n), Stack: b.Stack("main", function), Weight: 1, CPU: int64(tick) * int64(1+n/onset*9) / 10})
	}
	sink := why.New(why.Options{Ended: func(*stream.Process) bool { return false }})
	if err := stream.Copy(streamtest.Validate(sink), b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	r := sink.Report
	checkReport(t, &r)
	for _, f := range r.Findings {
		if f.Severity == why.Cause {
			t.Errorf("nothing tells more work from the same: %+v", f)
		}
	}
	if text := strings.Join(r.Unknown, "\n"); strings.Contains(text, "GPROF_WAIT_HZ") || strings.Contains(text, "goroutines") {
		t.Errorf("%s", text)
	}
}
