// Package redact makes values in events and their tables unreadable, by what they may
// reveal: paths, URLs, users, secrets and names.
package redact

import (
	"errors"
	"io"

	"gprof/stream"
)

// Action is what becomes of the values of a kind.
type Action uint8

const (
	Keep Action = iota
	Hash        // replaced by a keyed hash: what was equal stays equal
	Drop        // left out
)

// Options says what becomes of values by what they may reveal. The zero
// Options keeps all.
//
// Fields of events say of which kind they are. Of a field that is not defined,
// of a value that is of another type than its field, and of texts that nobody
// said anything about, the strictest is assumed: they are secrets. So are logs,
// arguments of programs, values of attributes and of labels of its work, the text of an exit, what came of
// self-tests, pages in private windows, and the texts of untyped markers. Names
// of hosts, and of their boots, go with URLs.
//
// What is not redacted is what the program's code says, not its data: functions,
// events, their categories and fields; service, version, revision; the keys of
// attributes and labels; the recorder's own counters; times and numbers of events.
type Options struct {
	// Paths are hashed as a whole: a base name, or even its extension, may be
	// the private part. Those of code are trimmed to what their function or
	// module is called anyway, whether they are to be hashed or to be dropped.
	Paths Action
	// URLs keep their scheme; host and rest are hashed each by itself, so that
	// one still sees which requests went to one server.
	URLs Action
	// Users are persons and accounts.
	Users Action
	// Secrets must not leave the machine.
	Secrets Action
	// Names are those that a program gives while it runs: of tracks, counters
	// and labels. Dropped names leave one track, or one counter, of all that had
	// one.
	Names Action
	// Key makes that nobody without it finds a value by hashing what it might
	// be. It should be random, 16 bytes or more.
	Key []byte
}

// valueKind is what a value may reveal: a Privacy, or that it names something.
type valueKind uint8

const (
	plainValue  = valueKind(stream.PrivacyPlain)
	pathValue   = valueKind(stream.PrivacyPath)
	urlValue    = valueKind(stream.PrivacyURL)
	userValue   = valueKind(stream.PrivacyUser)
	secretValue = valueKind(stream.PrivacySecret)
	nameValue   = secretValue + 1

	numValueKinds = nameValue + 1
)

// kindWords name the kinds in the ledger.
var kindWords = [numValueKinds]string{pathValue: "paths", urlValue: "URLs", userValue: "users", secretValue: "secrets", nameValue: "names"}

// howWords say there what was done.
var howWords = [...]string{Hash: "hashed", Drop: "dropped", trimValues: "trimmed"}

// trimValues is what becomes of paths of code.
const trimValues = Drop + 1

// Redactor makes values of one source unreadable, and counts them.
type Redactor struct {
	how    [numValueKinds]Action
	digest digester
	counts map[redactedCount]int64
	plans  map[stream.EventID]plan
	spare  stream.Column
	own    map[string]bool // names of the recorder's own counters
	early  bool            // rows were redacted before they came to Source
}

type redactedCount struct {
	process stream.ProcessID // 0: of several
	kind    valueKind
	how     Action
}

// New returns a Redactor for one source.
func New(how Options) *Redactor {
	kinds := [numValueKinds]Action{pathValue: how.Paths, urlValue: how.URLs, userValue: how.Users, secretValue: how.Secrets, nameValue: how.Names}
	return &Redactor{how: kinds, digest: newDigester(how.Key), counts: make(map[redactedCount]int64), plans: make(map[stream.EventID]plan)}
}

// Source returns a Source of the events of src with values redacted. Rows are
// redacted as they come, and tables when all have come, before any Sink sees
// them: nothing else reaches a spill file of Copy or an output. What src itself
// keeps in a file is its own business: see DuringOptions. The ledger says how
// many values that were, and its places are redacted, too.
func (r *Redactor) Source(src stream.Source) stream.Source {
	return &redacted{Wrapper: stream.Wrapper{Source: src}, by: r}
}

// redacted is a source of which nobody can read what a Options hides.
type redacted struct {
	stream.Wrapper
	by   *Redactor
	done bool
}

// Next implements [Source].
func (r *redacted) Next(b *stream.Batch) error {
	err := r.Source.Next(b)
	switch {
	case err == nil && !r.by.early:
		r.by.rows(r.Tables(), b)
	case errors.Is(err, io.EOF) && !r.done: // however often the end is asked for
		r.done = true
		r.by.tables(r.Tables())
	}
	return err
}

// After returns a function that redacts a batch when see has seen it. It may be
// called with a nil r, which redacts nothing.
func (r *Redactor) After(t *stream.Tables, see func(*stream.Batch) error) func(*stream.Batch) error {
	if r == nil {
		return see
	}
	r.early = true
	return func(b *stream.Batch) error {
		err := see(b)
		r.rows(t, b)
		return err
	}
}

// count counts n values.
func (r *Redactor) count(p stream.ProcessID, k valueKind, how Action, n int64) {
	r.counts[redactedCount{p, k, how}] += n
}

// tell writes the counts into the ledger.
func (r *Redactor) tell(t *stream.Tables) {
	for c, n := range r.counts {
		line := stream.Line{Reason: stream.ReasonRedacted, What: kindWords[c.kind], Where: howWords[c.how], Count: n}
		if c.process != 0 {
			line.Process = t.Process(c.process).InstanceName()
		}
		t.Ledger.Add(line)
	}
	clear(r.counts)
}
