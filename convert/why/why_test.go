package why_test

import (
	"encoding/json"
	"flag"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gprof/convert/why"
	"gprof/stream"
	"gprof/stream/streamtest"
)

var update = flag.Bool("update", false, "rewrite the table of docs/why.md")

// A rule that fired is a note, with what it saw and where that is kept.
func TestTriggers(t *testing.T) {
	s := newStory(killed)
	var fields []stream.EventField
	for _, name := range []string{"rule", "what", "value", "file", "held", "flow"} {
		fields = append(fields, stream.EventField{Name: name})
	}
	e := s.Event(stream.Event{Name: stream.EventTrigger, Fields: fields})
	for n := range ticks {
		s.marks(n, "request", 3, 2*time.Millisecond)
	}
	for n, what := range []string{stream.TriggerFired, stream.TriggerKept, stream.TriggerHeld, stream.TriggerFired} {
		s.p.Main.Mark(at(30+n), stream.Instant, e, "cpu>80%: snapshot", what, "93 %", "a.gprof", uint64(n), uint64(0))
	}
	r := s.report(t)
	if len(r.Findings) != 1 {
		t.Fatalf("%+v", r.Findings)
	}
	f := r.Findings[0]
	if f.Severity != why.Note || f.Text != `the trigger "cpu>80%: snapshot" fired` || !slices.Equal(f.Evidence, []string{"first at +3 s: 93 %", "kept as a.gprof"}) {
		t.Errorf("%+v", f)
	}
}

// told is a story and what why must say of it.
type told struct {
	name     string
	tell     func(s *story)
	exit     stream.Exit
	detector string // of the first finding; "": none above a note
	severity why.Severity
	text     []string // parts of its sentence
}

var stories = []told{
	{
		name: "heap leak", detector: "heap growth", severity: why.Cause, text: []string{"from 22 MiB to 505 MiB", "main.keep"}, exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				s.level(n, "heap live", float64(10+n*5)*(1<<20))
				s.p.Main.Allocate(at(n), stream.Instant, s.Stack("main.main", "main.keep", "runtime.mallocgc"), 5<<20, 10)
				s.marks(n, "request", 3, 2*time.Millisecond)
			}
		},
	},
	{
		name: "cache that is full after a third", exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				s.level(n, "heap live", float64(10+min(n, 33)*5)*(1<<20))
			}
		},
	},
	{
		name: "builder that ended in order", exit: stream.Exit{Known: true, Reason: "stopped"},
		tell: func(s *story) {
			for n := range ticks {
				s.level(n, "heap live", float64(10+n*5)*(1<<20))
			}
		},
	},
	{
		name: "goroutine leak", detector: "goroutine growth", severity: why.Cause, text: []string{"from 22 to 505", "main.(*feed).follow"}, exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				s.level(n, "goroutines", float64(10+n*5))
				s.waits(n, n*5, "channel receive", "runtime.goexit", "main.(*feed).follow")
				s.waits(n, 10, "select", "runtime.goexit", "main.serve")
			}
		},
	},
	{
		name: "pool of goroutines", exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				s.level(n, "goroutines", 5000)
				s.waits(n, 5000, "channel receive", "main.worker")
			}
		},
	},
	{
		name: "queue at a lock", detector: "lock", severity: why.Cause, text: []string{"main.(*table).get", "main.(*table).reload"}, exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				s.waits(n, 1, "network", "main.accept")
				if n < onset {
					s.marks(n, "request", 10, time.Millisecond)
					continue
				}
				s.marks(n, "request", 10, 80*time.Millisecond)
				s.waits(n, 12, "lock", "main.serve", "main.(*table).get", "sync.(*Mutex).Lock")
				s.waits(n, 1, "sleep", "main.upkeep", "main.(*table).reload", "time.Sleep")
			}
		},
	},
	{
		name: "groups that wait for their members", exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				if n >= onset {
					s.waits(n, 50, "lock", "main.serve", "main.gather", "sync.(*WaitGroup).Wait")
				}
			}
		},
	},
	{
		name: "throttled", detector: "CPU throttling", severity: why.Cause, text: []string{"500 ms of each second"}, exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				s.gain(n, "CPU throttled", 0.05*float64(n/onset), stream.FormatNanoseconds)
				s.gain(n, "process CPU", 0.05, stream.FormatNanoseconds)
				s.marks(n, "request", 2, time.Duration(1+n/onset*20)*time.Millisecond)
			}
		},
	},
	{
		name: "deadlock", detector: "standstill", severity: why.Cause, text: []string{"the last 5", "9 wait for a lock in main.transfer"}, exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				if n < onset {
					s.marks(n, "order", 5, time.Millisecond)
					s.waits(n, 9, "sleep", "main.serve", "time.Sleep")
				} else {
					s.waits(n, 9, "lock", "main.serve", "main.transfer", "sync.(*Mutex).Lock")
				}
			}
		},
	},
	{
		name: "nothing to do any more", exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				if n < onset {
					s.marks(n, "order", 5, time.Millisecond)
				}
				s.waits(n, 9, "channel receive", "main.worker")
			}
		},
	},
	{
		name: "loop without end", detector: "busy function", severity: why.Cause, text: []string{"main.(*cursor).seek", "1 processors, 0 before"}, exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				s.marks(n, "order", 5, time.Millisecond)
				s.runs(n, 0.2, "main.serve", "main.order")
				if n >= onset {
					s.runs(n, 1, "main.serve", "main.(*cursor).seek")
				}
			}
		},
	},
	{
		name: "files that stay open", detector: "open files", severity: why.Cause, text: []string{"from 22 to 505 of 600"}, exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				s.level(n, "open files", float64(10+n*5))
				s.level(n, "open files limit", 600)
			}
		},
	},
	{
		name: "retries", detector: "retries", severity: why.Cause, text: []string{"backend.call", "10 times for each request, 1 before"}, exit: killed,
		tell: func(s *story) {
			call := s.Event(stream.Event{Name: "backend.call", Fields: []stream.EventField{{Name: "status", Type: stream.Int}}})
			for n := range ticks {
				s.marks(n, "request", 4, 5*time.Millisecond)
				for k := range 4 * (1 + 9*(n/onset)) {
					s.p.Main.Interval(at(n)+stream.Time(k), 1000, call, int64(200+303*(n/onset)))
				}
			}
		},
	},
	{
		name: "debug logs", detector: "logging", severity: why.Cause, text: []string{"500 records a second, 10 before", "cannot parse row #"}, exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				s.marks(n, "request", 4, 5*time.Millisecond)
				s.logs(n, "INFO", "all is well", 1)
				s.logs(n, "WARN", "cannot parse row 17", 49*(n/onset))
			}
		},
	},
	{
		name: "errors", detector: "errors", severity: why.Likely, text: []string{"disk full"}, exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				s.marks(n, "request", 4, 5*time.Millisecond)
				s.logs(n, "ERROR", "disk full", n/onset)
			}
		},
	},
	{
		name: "all are woken", detector: "herd", severity: why.Cause, text: []string{"1000 goroutines that wait in main.await"}, exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				s.waits(n, 1000, "channel receive", "main.await")
				s.level(n, "goroutines runnable", float64(900*(n%20/19)))
				s.level(n, "scheduler latency p99", float64(n%20/19)*1e9)
			}
		},
	},
	{
		name: "a burst of requests", exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				s.waits(n, 10, "channel receive", "main.await")
				s.level(n, "goroutines runnable", float64(900*(n%20/19)))
				s.level(n, "scheduler latency p99", float64(n%20/19)*1e9)
			}
		},
	},
	{
		name: "more garbage for the same", detector: "allocations", severity: why.Cause, text: []string{"500 MiB a second", "59 MiB before", "main.join"}, exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				s.marks(n, "request", 4, 5*time.Millisecond)
				s.gain(n, "allocated", float64(5+45*(n/onset))*(1<<20), stream.FormatBytes)
				s.p.Main.Allocate(at(n), stream.Instant, s.Stack("main.main", "main.serve"), 5<<20, 10)
				if n >= onset {
					s.p.Main.Allocate(at(n), stream.Instant, s.Stack("main.main", "main.join"), 45<<20, 10)
					s.p.Main.Allocate(at(n), stream.Instant, s.Stack("main.main", "main.join"), -45<<20, 10)
				}
				s.p.Main.Allocate(at(n), stream.Instant, s.Stack("main.main", "main.serve"), -5<<20, 10)
			}
		},
	},
	{
		name: "heap that fills its limit", detector: "garbage collection", severity: why.Cause, text: []string{"50 % of the CPU time", "memory limit"}, exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				s.gain(n, "GC cycles", float64(n/onset*5), 0)
				s.level(n, "heap live", 50<<20)
				s.level(n, "heap goal", float64(100-n/onset*45)*(1<<20))
				s.runs(n, 0.1, "main.serve")
				if n >= onset {
					s.runs(n, 0.1, "runtime.gcBgMarkWorker", "runtime.gcDrain")
				}
			}
		},
	},
	{
		name: "timers", detector: "timers", severity: why.Cause, text: []string{"67 % of the CPU time", "main.arm"}, exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				s.runs(n, 0.1, "main.serve")
				s.runs(n, 0.1, "main.arm", "time.NewTimer")
				s.runs(n, 0.1, "runtime.mcall", "runtime.schedule", "runtime.(*timers).run")
			}
		},
	},
	{
		name: "pages from a disk", detector: "page faults", severity: why.Cause, text: []string{"300 major faults a second"}, exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				s.gain(n, "major faults", float64(n/onset*30), 0)
				s.marks(n, "request", 10-9*(n/onset), time.Duration(1+n/onset*90)*time.Millisecond)
			}
		},
	},
	{
		name: "another program is slow", detector: "slow dependency", severity: why.Cause, text: []string{"request takes 90 ms instead of 2.0 ms", "another program in main.ask"}, exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				s.waits(n, 3, "network", "main.accept", "net.(*Listener).Accept")
				s.marks(n, "request", 10, time.Duration(2+n/onset*88)*time.Millisecond)
				s.waits(n, n/onset*9, "select", "main.serve", "main.ask", "net/http.(*Client).Do")
			}
		},
	},
	{
		name: "a file is slow", detector: "slow files", severity: why.Cause, text: []string{"a file or a device in main.save"}, exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				s.waits(n, 3, "network", "main.accept", "net.(*Listener).Accept")
				s.marks(n, "request", 10, time.Duration(2+n/onset*88)*time.Millisecond)
				s.waits(n, n/onset*9, "system call", "main.serve", "main.save", "os.(*File).Sync")
			}
		},
	},
	{
		name: "others use the machine", detector: "starved", severity: why.Cause, text: []string{"gets no processor"}, exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				s.gain(n, "process CPU", 0.02, stream.FormatNanoseconds)
				s.gain(n, "CPU wait", 0.01+0.2*float64(n/onset), stream.FormatNanoseconds)
				s.marks(n, "request", 10, time.Duration(2+n/onset*20)*time.Millisecond)
			}
		},
	},
	{
		name: "restart loop", detector: "restart loop", severity: why.Cause, text: []string{"5 of 5 processes", "status 2"},
		exit: stream.Exit{Known: true, Reason: stream.Exited, Code: 2},
		tell: func(s *story) {
			s.Tables.Processes[0].End = begun + 5*tick
			for i := range stream.Time(4) {
				s.process(stream.Process{Instance: 8 + uint64(i), Pid: 8, Name: "shop", Start: begun + (i+1)*20*tick, End: begun + (i+1)*20*tick + 5*tick, Exit: s.Tables.Processes[0].Exit})
			}
		},
	},
	{
		name: "processes that are killed together", exit: killed,
		tell: func(s *story) {
			for i := range uint64(4) {
				s.process(stream.Process{Instance: 8 + i, Pid: 8, Name: "shop", Exit: killed})
			}
		},
	},
	{
		name: "a bad version", detector: "version", severity: why.Cause, text: []string{"version 3 is to blame: request typically takes 30 ms, 2.0 ms in other versions"}, exit: killed,
		tell: func(s *story) {
			for i := range 3 {
				s.process(stream.Process{Instance: 8 + uint64(i), Pid: 8 + i, Name: "shop", Version: string(rune('1' + i)), Exit: killed})
				for n := range ticks {
					s.marks(n, "request", 2, time.Duration(2+i/2*28)*time.Millisecond)
				}
			}
		},
	},
	{
		name: "more load", exit: killed,
		tell: func(s *story) {
			for n := range ticks {
				s.marks(n, "order", 5+n/onset*15, time.Millisecond)
				s.runs(n, 0.3+0.9*float64(n/onset), "main.serve", "main.order")
			}
		},
	},
}

// Each story has the finding that it was made for first, or none above a note.
func TestStories(t *testing.T) {
	for _, c := range stories {
		t.Run(c.name, func(t *testing.T) {
			s := newStory(c.exit)
			c.tell(s)
			r := s.report(t)
			checkReport(t, &r)
			switch {
			case c.detector != "" && len(r.Findings) == 0:
				t.Fatal("nothing was found")
			case c.detector != "":
				c.check(t, &r.Findings[0])
			case len(r.Findings) > 0 && r.Findings[0].Severity > why.Note:
				t.Errorf("of a healthy program: %+v", r.Findings[0])
			}
		})
	}
}

// A marker that has become slow comes less often; that of another there are more for each of it then is no retry.
func TestSlowIsNoRetry(t *testing.T) {
	s := newStory(killed)
	for n := range ticks {
		s.marks(n, "query", 10-7*(n/onset), time.Duration(2+n/onset*88)*time.Millisecond)
		s.marks(n, "insert", 4, time.Millisecond)
	}
	r := s.report(t)
	if len(r.Findings) != 1 || r.Findings[0].Detector != "slow marker" {
		t.Errorf("%+v", r.Findings)
	}
}

func (c *told) check(t *testing.T, f *why.Finding) {
	t.Helper()
	if f.Detector != c.detector || f.Severity != c.severity {
		t.Errorf("%s (%v), want %s (%v): %+v", f.Detector, f.Severity, c.detector, c.severity, f)
	}
	for _, part := range c.text {
		if !strings.Contains(f.Text, part) {
			t.Errorf("%q is not in %q", part, f.Text)
		}
	}
}

// checkReport checks what holds for every report: the order, and that nothing is said without evidence.
func checkReport(t *testing.T, r *why.Report) {
	t.Helper()
	for i, f := range r.Findings {
		if len(f.Evidence) == 0 || f.Text == "" || len(f.More) == 0 || f.Process == "" || f.Explains < 0 || f.Explains > 1 {
			t.Errorf("%+v", f)
		}
		if i > 0 && f.Severity > r.Findings[i-1].Severity {
			t.Errorf("%v comes after %v", f.Severity, r.Findings[i-1].Severity)
		}
	}
}

// The report is the same for events in any order.
func TestOrder(t *testing.T) {
	s := newStory(killed)
	for _, c := range stories {
		c.tell(s)
	}
	want := s.report(t)
	for seed := range uint64(5) {
		sink := why.New(why.Options{})
		if err := stream.Copy(sink, s.Shuffled(seed), stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, sink.Report, cmpopts.IgnoreUnexported(why.Finding{})); diff != "" {
			t.Fatal(diff)
		}
	}
}

// A recording of nothing, of one row of each kind, of a moment: what is missing is said, and nothing is
// found.
func TestSink(t *testing.T) {
	streamtest.TestSink(t, func(w io.Writer) stream.Sink { return &printed{why.New(why.Options{}), w} }, func(t *testing.T, output []byte) {
		var r why.Report
		if err := json.Unmarshal(output, &r); err != nil {
			t.Fatal(err)
		}
		checkReport(t, &r)
		for _, f := range r.Findings {
			if f.Severity > why.Note {
				t.Errorf("%+v", f)
			}
		}
	})
}

// printed writes the report as JSON.
type printed struct {
	*why.Sink
	w io.Writer
}

func (p *printed) Close() error {
	if err := p.Sink.Close(); err != nil {
		return err
	}
	return json.NewEncoder(p.w).Encode(p.Report)
}

// What a recording lacks is said once, with what to record.
func TestUnknown(t *testing.T) {
	s := newStory(killed)
	s.marks(1, "request", 3, 0)
	r := s.report(t)
	if text := strings.Join(r.Unknown, "\n"); !strings.Contains(text, "GPROF_WAIT_HZ") || !strings.Contains(text, "no CPU samples") || !strings.Contains(text, "GPROF_COUNTER_HZ") || len(r.Findings) > 0 {
		t.Errorf("%v\n%s", r.Findings, text)
	}
}

// What only some processes lack is said with how many of them do.
func TestUnknownOfSome(t *testing.T) {
	s := newStory(killed)
	for n := range ticks {
		s.marks(n, "request", 3, time.Millisecond)
		s.waits(n, 2, "chan receive", "main.main")
	}
	s.process(stream.Process{Instance: 8, Pid: 8, Name: "other"})
	for n := range ticks {
		s.marks(n, "request", 1, 0)
	}
	text := strings.Join(s.report(t).Unknown, "\n")
	if !strings.Contains(text, "GPROF_WAIT_HZ=10 records them (1 of 2 processes)") || !strings.Contains(text, "no CPU samples") || strings.Contains(text, "2 of 2") {
		t.Error(text)
	}
}

// The table in the documentation is that of the code.
func TestDocumented(t *testing.T) {
	const file, begin, end = "../../docs/why.md", "| finding | looks at | needs | from what on |\n|---|---|---|---|\n", "\n\n"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(page), begin)
	_, after, ended := strings.Cut("\n"+rest, end)
	want := before + begin
	for _, a := range abouts() {
		want += "| " + a.Name + " | " + a.Looks + " | " + a.Needs + " | " + a.Threshold + " |\n"
		for _, cause := range a.EffectOf {
			if !known(cause) {
				t.Errorf("%s is an effect of %q, which does not exist", a.Name, cause)
			}
		}
	}
	if want += "\n" + after; want == string(page) && ended {
		return
	}
	if !*update {
		t.Fatalf("%s does not say what detectors say: go test ./convert/why -run Documented -update", file)
	}
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func known(name string) bool {
	return slices.ContainsFunc(abouts(), func(a why.About) bool { return a.Name == name })
}

// abouts describe all detectors.
func abouts() (all []why.About) {
	for _, d := range why.SessionDetectors() {
		all = append(all, d.About())
	}
	for _, d := range why.Detectors() {
		all = append(all, d.About())
	}
	return all
}
