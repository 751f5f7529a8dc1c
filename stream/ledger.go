package stream

import (
	"cmp"
	"slices"
)

// Severity is how much a ledger line matters.
type Severity uint8

const (
	Info   Severity = iota // nothing is missing
	Unsure                 // read, but not proven or not exact
	Loss                   // something recorded is not in the output
)

func (s Severity) String() string { return [...]string{"info", "unsure", "loss"}[s] }

// Reason is why there is a line in the ledger. Lines are in the order of reasons.
type Reason uint8

const (
	ReasonDropped     Reason = iota // by the recorder itself
	ReasonGap                       // index range whose chunk is missing
	ReasonMissing                   // dictionary or meta file is not there
	ReasonTorn                      // chunk or block cut short
	ReasonDamaged                   // page or record whose checksum differs
	ReasonForeign                   // page of another use of the file: copied while the ring turned
	ReasonStale                     // chunk that was being reused when it was copied
	ReasonUnproven                  // read, but not sealed
	ReasonUnknownKind               // entry of a later version, skipped
	ReasonMalformed                 // entry whose fields do not parse
	ReasonUndefined                 // id whose definition is missing
	ReasonNoStack                   // repeated sample whose first is gone
	ReasonUnpaired                  // page or track end without a start
	ReasonDuplicate                 // input given twice
	ReasonUnreadable                // input or file that could not be read
	ReasonClock                     // clock that could not be aligned exactly
	ReasonExpired                   // left out by rule
	ReasonUnsupported               // detail that a format has no place for
	ReasonCut                       // longer than the output format, or a viewer of it, can hold
	ReasonMoved                     // in another place of the output than its like
	ReasonLeftOut                   // chunk that a slice of the recording does not hold
	ReasonStalled                   // input that stopped delivering
	ReasonRefused                   // input, or member of one, that is not to be trusted
	ReasonRedacted                  // value that was made unreadable: see package redact
	ReasonFiltered                  // rows, chunks or processes that were not asked for
	ReasonImpossible                // impossible value: an index out of range, an end before its start
	ReasonNewer                     // file of a later version of its format than is known
	ReasonDiscarded                 // chunks that made way for later ones
	ReasonTwin                      // process whose other recording is counted
	ReasonNoPlace                   // kind of data that the format is not for
	ReasonNoValue                   // asked for, but no recording tells it
	ReasonHeap                      // heap samples: how old, and what share of the heap they explain
	ReasonDeep                      // stack with more calls than are recorded: see roots.Truncated
	ReasonMadeUp                    // stands for something that nobody told: an address of memory
	ReasonRepeated                  // row between two that say the same
	NumReasons
)

// reasons are the name and the severity of each reason.
var reasons = [NumReasons]struct {
	name     string
	severity Severity
}{
	ReasonDropped:     {"dropped", Loss},
	ReasonGap:         {"gap", Loss},
	ReasonMissing:     {"missing", Loss},
	ReasonTorn:        {"torn", Loss},
	ReasonDamaged:     {"damaged", Loss},
	ReasonForeign:     {"foreign", Loss},
	ReasonStale:       {"stale", Info},
	ReasonUnproven:    {"unproven", Unsure},
	ReasonUnknownKind: {"unknown-kind", Loss},
	ReasonMalformed:   {"malformed", Loss},
	ReasonUndefined:   {"undefined", Unsure},
	ReasonNoStack:     {"no-stack", Loss},
	ReasonUnpaired:    {"unpaired", Info},
	ReasonDuplicate:   {"duplicate", Info},
	ReasonUnreadable:  {"unreadable", Loss},
	ReasonClock:       {"clock", Unsure},
	ReasonExpired:     {"expired", Loss},
	ReasonUnsupported: {"unsupported", Loss},
	ReasonCut:         {"cut", Loss},
	ReasonMoved:       {"moved", Info},
	ReasonLeftOut:     {"left-out", Info},
	ReasonStalled:     {"stalled", Loss},
	ReasonRefused:     {"refused", Loss},
	ReasonRedacted:    {"redacted", Info},
	ReasonFiltered:    {"filtered", Info},
	ReasonImpossible:  {"impossible", Loss},
	ReasonNewer:       {"newer", Unsure},
	ReasonDiscarded:   {"discarded", Info},
	ReasonTwin:        {"twin", Info},
	ReasonNoPlace:     {"no-place", Loss},
	ReasonNoValue:     {"no-value", Info},
	ReasonHeap:        {"heap", Info},
	ReasonDeep:        {"deep", Info},
	ReasonMadeUp:      {"made-up", Info},
	ReasonRepeated:    {"repeated", Info},
}

// ReasonNamed returns the reason of that name, and whether there is one.
func ReasonNamed(name string) (Reason, bool) {
	for r := range NumReasons {
		if r.String() == name {
			return r, true
		}
	}
	return 0, false
}

// String is the name of the reason in outputs and flags. Package wording explains it to
// people.
func (r Reason) String() string { return reasons[r].name }

// Severity is how much lines of this reason matter.
func (r Reason) Severity() Severity { return reasons[r].severity }

// Quiet reports whether lines of this reason are to be expected of such recordings or
// options: nobody needs to act on them, so they are only shown when asked for.
func (r Reason) Quiet() bool {
	switch r {
	case ReasonStale, ReasonUnproven, ReasonUnpaired, ReasonFiltered, ReasonNoPlace, ReasonHeap, ReasonDeep, ReasonMadeUp,
		ReasonRepeated:
		return true
	}
	return false
}

// Line is one entry of the ledger: how much of what, in which process.
type Line struct {
	Process string // instance in hex, "" for the run
	Reason  Reason
	What    string // blocks, pages, samples, …
	Where   string // chunk and page, event, …; "" in a sum
	Count   int64
	Bytes   int64
}

// maxPlaces is the most places that are listed for one process, reason and thing: the
// first ones by name. The rest are summed up in a line without a place.
const maxPlaces = 200

// Ledger counts what is missing from an output, or uncertain in it. Its lines do not
// depend on the order in which they were added. The zero Ledger is empty and ready to
// use.
type Ledger struct {
	groups map[Line]*group // key: Where empty, Count and Bytes 0
	known  *Ledger         // of which this is a branch, or nil
}

// branch returns a ledger that begins with the lines of l, to which nothing may be added
// any more. Lines added to the branch are not in l.
func (l *Ledger) branch() Ledger { return Ledger{known: l} }

// group is the lines of one process, reason and thing.
type group struct {
	sum    Line   // of lines without a place, or beyond maxPlaces
	summed bool   // sum is in use
	places []Line // by Where
}

// Add adds a line to the one with the same process, reason, thing and place.
func (l *Ledger) Add(line Line) {
	if l.groups == nil {
		l.groups = make(map[Line]*group)
	}
	key := Line{Process: line.Process, Reason: line.Reason, What: line.What}
	g := l.groups[key]
	if g == nil {
		g = &group{sum: key}
		l.groups[key] = g
	}
	g.add(line)
}

func (g *group) add(line Line) {
	if line.Where == "" {
		g.addToSum(line)
		return
	}
	i, found := slices.BinarySearchFunc(g.places, line.Where, func(l Line, where string) int {
		return cmp.Compare(l.Where, where)
	})
	if found {
		g.places[i].Count += line.Count
		g.places[i].Bytes += line.Bytes
		return
	}
	g.places = slices.Insert(g.places, i, line)
	// A place that is dropped follows all that stay, and would be dropped again: so those
	// that stay are complete.
	if n := len(g.places) - 1; n == maxPlaces {
		g.addToSum(g.places[n])
		g.places = g.places[:n]
	}
}

func (g *group) addToSum(line Line) {
	g.sum.Count += line.Count
	g.sum.Bytes += line.Bytes
	g.summed = true
}

// Lines returns all lines in one fixed order.
func (l *Ledger) Lines() []Line {
	if l.known == nil {
		return l.own()
	}
	var all Ledger
	for _, of := range [][]Line{l.known.Lines(), l.own()} {
		for _, line := range of {
			all.Add(line)
		}
	}
	return all.own()
}

// own returns the lines that were added to this ledger itself.
func (l *Ledger) own() []Line {
	var out []Line
	for _, g := range l.groups {
		if g.summed {
			out = append(out, g.sum)
		}
		out = append(out, g.places...)
	}
	slices.SortFunc(out, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.Process, b.Process), cmp.Compare(a.Reason, b.Reason),
			cmp.Compare(a.What, b.What), cmp.Compare(a.Where, b.Where))
	})
	return out
}

// Worst is the highest severity of any line, and whether there is one.
func (l *Ledger) Worst() (worst Severity, any bool) {
	if l.known != nil {
		worst, any = l.known.Worst()
	}
	for key := range l.groups {
		worst, any = max(worst, key.Reason.Severity()), true
	}
	return worst, any
}
