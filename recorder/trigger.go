package recorder

import (
	"fmt"

	"gprof/recorder/internal/keeper"
	"gprof/recorder/internal/trigger"
)

// Trigger is a rule: a condition, and what is kept when it holds.
//
//	recorder.Options{Triggers: []recorder.Trigger{
//		{Rule: "cpu>80% for 5s: snapshot"},
//		{Rule: "queue is full for 1s: snapshot 10s every 10m", Check: func() bool { return len(queue) == cap(queue) }},
//	}}
//
// A rule is a condition, a colon, and what to do, separated by commas. Conditions are
//
//	cpu>80%                   share of the processors that the program may use (GOMAXPROCS)
//	heap>90%                  share of a limit of memory: cgroup, GOMEMLIMIT, others
//	gc>25%                    share of the program's CPU time that garbage collection takes
//	goroutines>10000          how many there are
//	http.request>2s           one interval of the event of that name took longer
//	p99(http.request)>500ms   more than one in a hundred did, of at least a hundred
//	log>=error                a log record, where package logs records them: debug, info, warn, error
//
// with for and a time for which the condition must hold, or over which it is measured: 1 s for
// cpu and gc, 10 s for percentiles unless it says more. It does both at once for cpu, gc and
// percentiles; one interval or record has no such time. Names that hold one of ; : > " are
// written in quotes. Intervals are those of Begin, Interval and Between, not of Start and End,
// which are put together by readers.
//
// The actions are one or several of
//
//	snapshot 30s       keep what was recorded in that time before, 30 s unless it says
//	snapshot all 30s   keep that of all processes of the session
//	trace 1s           take a window of the execution trace as [Recorder.Trace] does, and 1 s ahead
//	mark               nothing but a marker, which there is in any case
//
// and perhaps "every 5m" at the end: a rule acts at most once in that time, 1 m unless it says.
// If the interval that a rule is about has a field of [Flow], its snapshot is of all processes.
//
// Snapshots lie in the directory "triggered" of the session, 16 files at most, which take at
// most a quarter of its limit besides; older ones make room. Markers "trigger" say what
// happened, and how often a rule was held back. A recording in memory has no snapshots.
type Trigger struct {
	Rule string

	// Check makes the condition the program's own: Rule names it. It is called in a goroutine of
	// its own, at most 10 times a second, and takes at most a hundredth of the time. While a
	// call does not return, and for ever after a panic, the rule is off, which a marker says. It
	// must not call Stop.
	Check func() bool
}

// rulesOf reads rules.
func rulesOf(triggers []Trigger) (rules []keeper.Trigger, err error) {
	for _, t := range triggers {
		r, err := trigger.ParseOne(t.Rule, t.Check != nil)
		if err != nil {
			return nil, fmt.Errorf("trigger %w", err)
		}
		rules = append(rules, keeper.Trigger{Rule: r, Check: t.Check})
	}
	if len(rules) > trigger.MaxRules {
		return nil, fmt.Errorf("%d triggers: want at most %d", len(rules), trigger.MaxRules)
	}
	return rules, nil
}

func (s *settings) setTriggers(v string) error {
	rules, err := trigger.Parse(v)
	for _, r := range rules {
		s.Triggers = append(s.Triggers, Trigger{Rule: r.Text})
	}
	return err
}
