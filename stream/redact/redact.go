// Package redact makes values in events and their tables unreadable, by what they may
// reveal: paths, URLs, users, secrets and names.
package redact

import (
	"errors"
	"io"

	"gprof/stream"
)

// Action is what is done with values of a kind.
type Action uint8

const (
	Keep Action = iota
	Hash        // replaced by a keyed hash: equal values stay equal
	Drop        // left out
)

// Options are the actions for values, by what they may reveal. The zero Options keeps
// all.
//
// Fields of events have a kind. If none is known, the strictest is assumed: values of
// undefined fields, values of another type than their field's, and texts without any
// description are secrets. So are logs, arguments of programs, values of attributes and
// labels, the text of an exit, results of self-tests, pages in private windows, the texts
// of untyped markers, and addresses of memory. Names of hosts and ids of their boots are treated as URLs.
//
// Redaction keeps what comes from the program's code, not its data: functions,
// events, their categories and fields; service, version, revision; the keys of
// attributes and labels; the recorder's own counters; times and numbers of events.
type Options struct {
	// Paths are hashed as a whole, because a base name, or even its extension, may be
	// private. Paths of code, whether to be hashed or dropped, are trimmed to what the
	// names of their function or module say anyway.
	Paths Action
	// URLs keep their scheme; the host and the rest are hashed separately, so that one
	// still sees which requests went to the same server.
	URLs Action
	// Users are persons and accounts.
	Users Action
	// Secrets must not leave the machine.
	Secrets Action
	// Names are those that a program gives while it runs, to tracks, counters and labels.
	// If they are dropped, all tracks that had one become one, and so do counters.
	Names Action
	// Key prevents finding a value by hashing guesses. It should be random, 16 bytes or
	// more.
	Key []byte
}

// valueKind is what a value may reveal: a Privacy, or a name.
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

// howWords name the actions there.
var howWords = [...]string{Hash: "hashed", Drop: "dropped", trimValues: "trimmed"}

// trimValues is the action for paths of code.
const trimValues = Drop + 1

// Redactor makes values of one source unreadable, and counts them.
type Redactor struct {
	how    [numValueKinds]Action
	digest digester
	counts map[redactedCount]int64
	plans  map[stream.EventID]plan
	spare  stream.Column
	own    map[string]bool // names of the recorder's own counters
	early  bool            // rows are redacted before they come to Source
}

type redactedCount struct {
	process stream.ProcessID // 0: several
	kind    valueKind
	how     Action
}

// New returns a Redactor for one source.
func New(how Options) *Redactor {
	kinds := [numValueKinds]Action{pathValue: how.Paths, urlValue: how.URLs, userValue: how.Users, secretValue: how.Secrets, nameValue: how.Names}
	return &Redactor{how: kinds, digest: newDigester(how.Key), counts: make(map[redactedCount]int64), plans: make(map[stream.EventID]plan)}
}

// Source returns a Source of the events of src with redacted values. Rows are redacted as
// they come, and tables after the last row, before any Sink sees them: no other values
// reach a spill file of Copy or an output. This does not apply to files of src itself:
// see DuringOptions. The ledger says how many values were redacted, and its places are
// redacted, too.
func (r *Redactor) Source(src stream.Source) stream.Source {
	return &redactedSource{Wrapper: stream.Wrapper{Source: src}, by: r}
}

// redactedSource is a source with redacted values.
type redactedSource struct {
	stream.Wrapper
	by   *Redactor
	done bool
}

// Next implements [Source].
func (r *redactedSource) Next(b *stream.Batch) error {
	err := r.Source.Next(b)
	switch {
	case err == nil && !r.by.early:
		r.by.rows(r.Tables(), b)
	case errors.Is(err, io.EOF) && !r.done: // once
		r.done = true
		r.by.tables(r.Tables())
	}
	return err
}

// After returns a function that calls see with a batch and then redacts it. With a nil r
// nothing is redacted.
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

// count counts a value.
func (r *Redactor) count(p stream.ProcessID, k valueKind, how Action) {
	r.counts[redactedCount{p, k, how}]++
}

// tell adds the counts to the ledger.
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
