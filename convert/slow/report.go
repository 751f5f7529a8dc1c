package slow

import "gprof/stream"

// Report is where the time of slow intervals went, compared with the rest of the same name.
type Report struct {
	Query   string   `json:"query"`
	Names   []Name   `json:"names"`           // of the intervals, in the order of their text
	Slow    Group    `json:"slow"`            // those that were chosen
	Rest    Group    `json:"rest"`            // all others of the same names
	Open    Group    `json:"still_running"`   // began and never ended: none of the others; their time is that to the end of the process
	Split   []Part   `json:"split"`           // one for each of Parts, in that order
	More    []Excess `json:"more"`            // places that take more of the time of slow ones; those that add most first
	Traits  []Trait  `json:"traits"`          // what more of the slow ones have in common; the likeliest first
	Unlike  []string `json:"too_many_values"` // fields whose values were too many to compare
	Longest []Slow   `json:"longest"`         // of the slow ones, at most 10, the longest first
	Traces  []Trace  `json:"traces"`          // the slowest that are part of a trace, at most 3
	Notes   []string `json:"notes"`           // what is not known, and why
}

// Name is the intervals of one name.
type Name struct {
	Name      string `json:"name"`
	Intervals int64  `json:"intervals"` // slow ones and the rest
	Slow      int64  `json:"slow"`
	Open      int64  `json:"still_running"`
	Threshold int64  `json:"threshold_ns"` // with which the percentile of the query compares; -1: it has none
	Longest   int64  `json:"longest_ns"`
}

// Group is some intervals together. Times are sums, in ns.
type Group struct {
	Intervals int64 `json:"intervals"`
	Wall      int64 `json:"wall_ns"`
	Longest   int64 `json:"longest_ns"`
	Exact     int64 `json:"exact_ns"`          // of Wall: an execution trace tells what the goroutine did
	Estimated int64 `json:"estimated_ns"`      // of Wall: samples tell, with the errors of the parts
	Ownerless int64 `json:"without_goroutine"` // of Intervals: nothing tells whose they are, so nothing of them is split
}

// The parts of an interval's time.
const (
	CPU = iota
	Runnable
	Collector
	Lock
	Network
	Calling
	Waiting
	Unknown
	numParts
)

// Parts are the names of the parts.
var Parts = [numParts]string{
	CPU: "CPU", Runnable: "waiting for a processor", Collector: "garbage collector", Lock: "locks", Network: "network", Calling: "system calls",
	Waiting: "sleep, channels, others", Unknown: "unknown",
}

// Part is a part of the time of all groups.
type Part struct {
	Name  string  `json:"name"`
	Slow  Amount  `json:"slow"`
	Rest  Amount  `json:"rest"`
	Open  Amount  `json:"still_running"`
	P     float64 `json:"p"`     // of such a difference of the shares by chance; 1 if there are too few intervals to judge
	Found bool    `json:"found"` // the share is larger, beyond chance, given how much was compared
}

// Amount is some time of a group's intervals together, in ns.
type Amount struct {
	Exact     int64   `json:"exact_ns"`
	Estimated int64   `json:"estimated_ns"`
	Error     int64   `json:"error_ns"` // of Estimated: two standard errors
	Share     float64 `json:"share"`    // of the group's wall time
}

// Sum is exact and estimated time.
func (a Amount) Sum() int64 { return a.Exact + a.Estimated }

// Excess is a place in the code, and a part of the time.
type Excess struct {
	Part      string  `json:"part"`
	Place     string  `json:"place"`
	Slow      float64 `json:"slow_ns"` // of one of them, on average
	Rest      float64 `json:"rest_ns"`
	SlowShare float64 `json:"slow_share"` // of the group's wall time
	RestShare float64 `json:"rest_share"`
	In        int64   `json:"in"`        // in how many of the slow ones it is
	Estimated bool    `json:"estimated"` // by samples
	P         float64 `json:"p"`
	Found     bool    `json:"found"`
	By        []Waker `json:"ended_by"` // of a wait, in slow ones: who ended it, at most 3
}

// Waker is what another goroutine did when it ended a wait: the holder of a lock, for one.
type Waker struct {
	Place string `json:"place"`
	Time  int64  `json:"ns"`    // waited for it, in all slow ones
	Count int64  `json:"count"` // of waits
}

// Trait is something that an interval has or has not: a track, a process, a label, an argument.
type Trait struct {
	Kind  string  `json:"kind"` // track, process, label, argument
	Name  string  `json:"name"` // of the label or the argument
	Value string  `json:"value"`
	Slow  int64   `json:"slow"` // intervals that have it
	Rest  int64   `json:"rest"`
	P     float64 `json:"p"` // that so many slow ones have it by chance
	Found bool    `json:"found"`
}

// Slow is one interval.
type Slow struct {
	At        stream.Time     `json:"at_ns"` // Unix time
	Took      int64           `json:"took_ns"`
	Process   string          `json:"process"`
	Goroutine int64           `json:"goroutine"` // 0: unknown
	Trace     string          `json:"trace,omitempty"`
	Parts     [numParts]int64 `json:"parts_ns"` // in the order of split
	Most      string          `json:"most"`     // the place at which it spent most, and the part; "" unknown
}

// Trace is a slow interval that is part of a distributed trace.
type Trace struct {
	ID   string `json:"id"`
	Took int64  `json:"took_ns"`
}
