package filter

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gprof/stream"
)

// Query says which markers are wanted, by their name and what they tell:
//
//	NAME                                     all of that name
//	NAME[duration>100ms]                     those that took longer
//	NAME[status>=500, path~"^/api"]          those for which both is true
//	"a[0]"[size=4KiB & "my field"!=x]        names with other characters, quoted
//
// NAME is a [Pattern]. A condition names a field of the event, or duration,
// which is the marker's own. The operators are = != < <= > >= and ~, which is a
// regular expression that matches anywhere in the value. Several conditions are
// separated by a comma or &. A value is a number, also with a unit (100ms, 4KiB,
// 50%), a moment (RFC 3339), true, false, or a text; in quotes it may hold any
// characters. Of a text, < and the like compare the number that it is. A marker
// that lacks the field is not wanted.
//
// The duration may also be compared by order with a percentile, duration>p99 or >=p99.9: see [Query.Lasts]. Only
// what knows all durations first can use such a query.
type Query struct {
	Name       Pattern
	conditions []condition
	trace      [2]uint64 // if set: they are spans of that trace
}

// condition is one condition of a query.
type condition struct {
	field string
	op    operator
	value literal
	share float64 // of a percentile of the duration, 0 to 1; else 0
}

// durationField is the field that every marker has.
const durationField = "duration"

// maxConditions bounds those of one query: a set of them is a word.
const maxConditions = 32

type operator string

const (
	opEqual     operator = "="
	opNotEqual  operator = "!="
	opLess      operator = "<"
	opAtMost    operator = "<="
	opMore      operator = ">"
	opAtLeast   operator = ">="
	opMatches   operator = "~"
	operatorSet          = "=!<>~"
)

// operators in the order in which they are tried: long ones first.
var operators = [...]operator{opNotEqual, opAtMost, opAtLeast, opEqual, opLess, opMore, opMatches}

// ErrQuery says that a text is no query.
var ErrQuery = errors.New("want NAME or NAME[duration>100ms, FIELD=VALUE]")

// ParseQuery reads a query. The error is an [ErrQuery].
func ParseQuery(text string) (Query, error) {
	p := queryParser{rest: text}
	q := p.query()
	if p.err != nil {
		return Query{}, fmt.Errorf("%q: %w: %w", text, p.err, ErrQuery)
	}
	return q, nil
}

// queryParser reads a text from its front. After an error it does nothing.
type queryParser struct {
	rest string
	err  error
}

func (p *queryParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	p.rest = ""
}

func (p *queryParser) query() (q Query) {
	q.Name = Pattern(p.word("["))
	if q.Name == "" {
		p.fail("there is no name")
	}
	if p.rest == "" {
		return q
	}
	p.rest = p.rest[1:]
	for p.err == nil {
		q.conditions = append(q.conditions, p.condition())
		switch {
		case strings.TrimSpace(p.rest) == "]":
			return q
		case p.rest == "":
			p.fail("the ] is missing")
		case p.rest[0] == ']':
			p.fail("something follows the ]")
		case len(q.conditions) == maxConditions:
			p.fail("more than %d conditions", maxConditions)
		default:
			p.rest = p.rest[1:]
		}
	}
	return q
}

func (p *queryParser) condition() (c condition) {
	if c.field = p.word(operatorSet + ",&]"); c.field == "" {
		p.fail("a condition has no field")
	}
	for _, op := range operators {
		if rest, ok := strings.CutPrefix(p.rest, string(op)); ok {
			c.op, p.rest = op, rest
			break
		}
	}
	if c.op == "" {
		p.fail("after the field %q there is no operator: = != < <= > >= ~", c.field)
	}
	c.value = newLiteral(p.word(",&]"))
	c.share = c.percentile()
	if err := c.check(); err != nil {
		p.fail("%w", err)
	}
	return c
}

// word reads a word in quotes, or up to one of the characters in end.
func (p *queryParser) word(end string) string {
	p.rest = strings.TrimLeft(p.rest, " ")
	if strings.HasPrefix(p.rest, `"`) {
		return p.quoted(end)
	}
	i := strings.IndexAny(p.rest, end)
	if i < 0 {
		i = len(p.rest)
	}
	word := strings.TrimRight(p.rest[:i], " ")
	p.rest = p.rest[i:]
	return word
}

// quoted reads a word in quotes that is followed by one of the characters in end, or by
// nothing.
func (p *queryParser) quoted(end string) string {
	prefix, err := strconv.QuotedPrefix(p.rest)
	if err != nil {
		p.fail("the quotes of %s do not end", p.rest)
		return ""
	}
	word, _ := strconv.Unquote(prefix)
	p.rest = strings.TrimLeft(p.rest[len(prefix):], " ")
	if p.rest != "" && !strings.Contains(end, p.rest[:1]) {
		p.fail("something follows the quotes: %s", p.rest)
	}
	return word
}

// check refuses conditions that can never be true, and compiles a regular expression.
func (c *condition) check() (err error) {
	switch c.op {
	case opMatches:
		c.value.expression, err = regexp.Compile(c.value.text)
	case opLess, opAtMost, opMore, opAtLeast:
		if c.share == 0 && !c.value.number.known() {
			err = fmt.Errorf("%s%s%s: %q is no number, such as 100, 0.5, 100ms or 4KiB", c.field, c.op, c.value.text, c.value.text)
		}
	}
	if err == nil && c.field == durationField && c.op != opMatches && c.share == 0 && !c.value.number.known() {
		err = fmt.Errorf("%q is no duration, such as 100ms, and no percentile after < <= > >=, such as p99", c.value.text)
	}
	return err
}

// String is the query as ParseQuery reads it.
func (q Query) String() string {
	if q.isTrace() {
		return "trace " + stream.Span{Trace: q.trace}.TraceText()
	}
	out := quoteWord(string(q.Name), "[")
	for i, c := range q.conditions {
		out += [2]string{"[", ", "}[min(i, 1)] + c.String()
	}
	if len(q.conditions) > 0 {
		out += "]"
	}
	return out
}

func (c condition) String() string {
	return quoteWord(c.field, operatorSet+",&]") + string(c.op) + quoteWord(c.value.text, operatorSet+",&]")
}

func quoteWord(word, end string) string {
	if word == "" || strings.TrimSpace(word) != word || strings.ContainsAny(word, end) || strings.HasPrefix(word, `"`) {
		return strconv.Quote(word)
	}
	return word
}

// literal is a value to compare with.
type literal struct {
	text       string
	number     number
	expression *regexp.Regexp
}

func newLiteral(text string) literal { return literal{text: text, number: parseNumber(text)} }

// number is a number, exact if it is an integer. The zero number is none.
type number struct {
	kind stream.Type // Int, Uint or Float
	bits uint64
}

func (n number) known() bool { return n.kind != stream.Null }

func intNumber(v int64) number     { return number{stream.Int, uint64(v)} }
func floatNumber(v float64) number { return number{stream.Float, math.Float64bits(v)} }

// parseNumber reads a number with or without a unit, or a moment.
func parseNumber(text string) number {
	digits, base := text, 10
	if hex, ok := strings.CutPrefix(text, "0x"); ok {
		digits, base = hex, 16
	}
	if i, err := strconv.ParseInt(digits, base, 64); err == nil {
		return intNumber(i)
	}
	if u, err := strconv.ParseUint(digits, base, 64); err == nil {
		return number{stream.Uint, u}
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return floatNumber(f)
	}
	if d, err := time.ParseDuration(text); err == nil {
		return intNumber(int64(d))
	}
	if n := parseUnit(text); n.known() {
		return n
	}
	switch t, err := time.Parse(time.RFC3339, text); {
	case err == nil && t.Year() > 1677 && t.Year() < 2262:
		return intNumber(t.UnixNano())
	case text == "true":
		return intNumber(1)
	case text == "false":
		return intNumber(0)
	}
	return number{}
}

// units are those of fractions and sizes as people write them: powers of 1,024.
var units = [...]struct {
	name string
	of   float64
}{
	{"%", 0.01},
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {"TB", 1 << 40},
	{"B", 1},
	{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", 1 << 40},
}

func parseUnit(text string) number {
	for _, u := range units {
		digits, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		f, err := strconv.ParseFloat(strings.TrimRight(digits, " "), 64)
		if err != nil {
			return number{}
		}
		if f *= u.of; f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return intNumber(int64(f))
		}
		return floatNumber(f)
	}
	return number{}
}

// compare is the order of two known numbers; it is not ok with NaN.
func (n number) compare(m number) (order int, ok bool) {
	if n.kind == stream.Float || m.kind == stream.Float {
		a, b := n.float(), m.float()
		return cmp.Compare(a, b), a == a && b == b
	}
	switch a, b := n.negative(), m.negative(); {
	case a && !b:
		return -1, true
	case b && !a:
		return 1, true
	}
	return cmp.Compare(n.bits, m.bits), true // two's complement: also right if both are negative
}

func (n number) negative() bool { return n.kind == stream.Int && int64(n.bits) < 0 }

func (n number) float() float64 {
	switch n.kind {
	case stream.Float:
		return math.Float64frombits(n.bits)
	case stream.Int:
		return float64(int64(n.bits))
	}
	return float64(n.bits)
}

// holds reports whether an argument fulfils the condition.
func (c *condition) holds(col *stream.Column, i int) bool {
	switch t := col.TypeAt(i); t {
	case stream.Null:
		return false
	case stream.Text, stream.JSON:
		return c.holdsText(string(col.TextAt(i)))
	default:
		return c.holdsNumber(number{t, col.BitsAt(i)})
	}
}

func (c *condition) holdsText(text string) bool {
	switch c.op {
	case opEqual:
		return text == c.value.text
	case opNotEqual:
		return text != c.value.text
	case opMatches:
		return c.value.expression.MatchString(text)
	}
	n := parseNumber(text)
	return n.known() && c.holdsNumber(n)
}

func (c *condition) holdsNumber(n number) bool {
	if c.op == opMatches {
		return c.value.expression.MatchString(n.String())
	}
	if !c.value.number.known() {
		return c.op == opNotEqual
	}
	order, ok := n.compare(c.value.number)
	switch c.op {
	case opEqual:
		return ok && order == 0
	case opNotEqual:
		return !ok || order != 0
	case opLess:
		return ok && order < 0
	case opAtMost:
		return ok && order <= 0
	case opMore:
		return ok && order > 0
	}
	return ok && order >= 0
}

func (n number) String() string {
	switch n.kind {
	case stream.Float:
		return strconv.FormatFloat(math.Float64frombits(n.bits), 'g', -1, 64)
	case stream.Int:
		return strconv.FormatInt(int64(n.bits), 10)
	}
	return strconv.FormatUint(n.bits, 10)
}
