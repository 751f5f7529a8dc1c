package redact

import (
	"math"
	"strconv"

	"gprof/stream"
)

// plan is the kinds of the columns of some rows.
type plan []columnPlan

type columnPlan struct {
	kind valueKind
	text bool // values are texts
}

// rows redacts the arguments of b.
func (r *Redactor) rows(t *stream.Tables, b *stream.Batch) {
	switch b.Series.Kind {
	case stream.Markers:
		r.columns(b, r.planOf(t, b.Series.Event))
	case stream.Allocations:
		r.addresses(b)
	case stream.Logs:
		r.columns(b, plan{{secretValue, true}})
	case stream.Pages:
		r.pages(b)
	case stream.Overheads:
		r.columns(b, make(plan, len(b.Args)))
	}
}

// addresses redacts where memory lay, which tells an attacker how a process is laid out. Hashed ones
// stay equal, so that what was freed is still known. Those below 0 are made up.
func (r *Redactor) addresses(b *stream.Batch) {
	how := r.how[secretValue]
	if how == Keep {
		return
	}
	for i, at := range b.Address {
		if at <= 0 {
			continue
		}
		b.Address[i] = 0
		if how == Hash {
			b.Address[i] = r.digest.number(strconv.FormatInt(at, 10))
		}
		r.count(b.Series.Process, secretValue, how)
	}
}

func (r *Redactor) columns(b *stream.Batch, p plan) {
	for i := range b.Args {
		r.column(b.Series.Process, &b.Args[i], func(int) columnPlan { return p[i] })
	}
}

// planOf is the plan of an event's markers. The tables may be in use while the source is
// read.
func (r *Redactor) planOf(t *stream.Tables, id stream.EventID) plan {
	p, ok := r.plans[id]
	if !ok {
		t.Lock()
		p = newPlan(t.Event(id))
		t.Unlock()
		r.plans[id] = p
	}
	return p
}

func newPlan(e *stream.Event) plan {
	p := make(plan, len(e.Fields))
	for i := range e.Fields {
		f := &e.Fields[i]
		p[i] = columnPlan{kindOf(f), f.Type.Textual() || f.Format == stream.FormatString}
	}
	if len(p) == 1 && p[0] == (columnPlan{text: true}) && e.Fields[0].Name == untypedText {
		p[0].kind = secretValue
	}
	return p
}

// untypedText is the only field of an untyped marker with a text, which may reveal
// anything.
const untypedText = "text"

// kindOf is what the values of a field may reveal, by its privacy or else by its format.
func kindOf(f *stream.EventField) valueKind {
	switch {
	case f.Privacy != stream.PrivacyPlain:
		return valueKind(min(f.Privacy, stream.PrivacySecret))
	case f.Format == stream.FormatPath:
		return pathValue
	case f.Format == stream.FormatURL:
		return urlValue
	}
	return plainValue
}

// at is the plan of one value: if it has another type than its column it may be anything.
func (c columnPlan) at(t stream.Type) columnPlan {
	if t != stream.Null && t.Textual() != c.text {
		c.kind = secretValue
	}
	return c
}

// column redacts one column; of is the plan of each row.
func (r *Redactor) column(p stream.ProcessID, c *stream.Column, of func(row int) columnPlan) {
	first := 0
	for ; first < c.Len(); first++ {
		if r.how[of(first).at(c.TypeAt(first)).kind] != Keep && c.TypeAt(first) != stream.Null {
			break
		}
	}
	if first == c.Len() { // nothing to redact: mostly
		return
	}
	out := &r.spare
	out.Reset()
	for i := range c.Len() {
		r.value(p, out, c, i, of(i).at(c.TypeAt(i)).kind)
	}
	*c, r.spare = *out, *c
}

// value adds the redacted row i of c to out.
func (r *Redactor) value(p stream.ProcessID, out, c *stream.Column, i int, k valueKind) {
	t, how := c.TypeAt(i), r.how[k]
	empty := t.Textual() && len(c.TextAt(i)) == 0
	switch {
	case t == stream.Null:
		out.AppendNull()
		return
	case how == Keep || empty:
		if t.Textual() {
			out.AppendTextual(t, c.TextAt(i))
		} else {
			out.AppendBits(t, c.BitsAt(i))
		}
		return
	case how == Drop:
		out.AppendNull()
	default:
		out.AppendText([]byte(r.digest.hashed(k, textOf(c, i))))
	}
	r.count(p, k, how)
}

// textOf is row i of a column as a text.
func textOf(c *stream.Column, i int) string {
	switch bits := c.BitsAt(i); c.TypeAt(i) {
	case stream.Int:
		return strconv.FormatInt(int64(bits), 10)
	case stream.Uint:
		return strconv.FormatUint(bits, 10)
	case stream.Float:
		return strconv.FormatFloat(math.Float64frombits(bits), 'g', -1, 64)
	}
	return string(c.TextAt(i))
}

// The columns of Pages that are redacted; see [PageFields].
const (
	pagePrivate = 3
	pageURL     = 4
)

// pages redacts pages. The URL of a private one is a secret; that there was one reveals
// something about the user, and is hidden if users are redacted.
func (r *Redactor) pages(b *stream.Batch) {
	private := make([]bool, b.Len())
	for i := range private {
		private[i] = b.Args[pagePrivate].BitsAt(i) != 0
	}
	for i := range b.Args[:pagePrivate+1] {
		r.column(b.Series.Process, &b.Args[i], func(int) columnPlan { return columnPlan{} })
	}
	if r.how[userValue] != Keep {
		r.forgetPrivate(b, private)
	}
	r.column(b.Series.Process, &b.Args[pageURL], func(row int) columnPlan {
		if private[row] {
			return columnPlan{secretValue, true}
		}
		return columnPlan{urlValue, true}
	})
}

// forgetPrivate hides which pages were private.
func (r *Redactor) forgetPrivate(b *stream.Batch, private []bool) {
	c := &b.Args[pagePrivate]
	c.Reset()
	for i := range private {
		c.AppendNull()
		if private[i] {
			r.count(b.Series.Process, userValue, Drop)
		}
	}
}
