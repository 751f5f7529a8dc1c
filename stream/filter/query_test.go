package filter_test

import (
	"errors"
	"strings"
	"testing"

	"gprof/stream"
	"gprof/stream/filter"
	"gprof/stream/streamtest"
)

// badQueries are texts that ParseQuery refuses, and a word in the error that shows why.
var badQueries = []struct{ text, why string }{
	{"", "there is no name"},
	{"[a=1]", "there is no name"},
	{"a[", "no field"},
	{"a[]", "no field"},
	{"a[b]", "no operator"},
	{"a[b=1", "] is missing"},
	{"a[b=1] c", "something follows the ]"},
	{"a[b>x]", `"x" is no number`},
	{"a[duration>soon]", "is no number"},
	{"a[duration=soon]", "is no duration"},
	{"a[b~(]", "missing closing )"},
	{`"a`, "do not end"},
	{`"a"b[c=1]`, "something follows the quotes"},
	{`a[b="c"d]`, "something follows the quotes"},
	{"a[b=1,]", "no field"},
	{"a[" + strings.Repeat("b=1,", 32) + "b=1]", "more than 32 conditions"},
}

func TestBadQueries(t *testing.T) {
	for _, c := range badQueries {
		_, err := filter.ParseQuery(c.text)
		if !errors.Is(err, filter.ErrQuery) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%q: got the error %v, want one that says %q", c.text, err, c.why)
		}
	}
}

// queries are queries for a marker with the fields of TestQueries, and whether it
// matches.
var queries = []struct {
	text string
	want bool
}{
	{"http.request", true},
	{"http.*", true},
	{"h?tp.request", true},
	{"request", false},
	{`"http.request"`, true},
	{"http.request[duration>100ms]", true},
	{"http.request[duration>150ms]", false},
	{"http.request[duration>=150ms]", true},
	{"http.request[duration<=0.15s]", true},
	{"http.request[duration=150000000]", true},
	{"http.request[duration!=150ms]", false},
	{"http.request[status=503]", true},
	{"http.request[status!=503]", false},
	{"http.request[status>=500]", true},
	{"http.request[status<500]", false},
	{"http.request[status=0x1f7]", true},
	{"http.request[status~^5]", true},
	{"http.request[status~^4]", false},
	{"http.request[status=ok]", false},
	{"http.request[status!=ok]", true},
	{"http.request[balance<0]", true},
	{"http.request[balance>=-5]", true},
	{"http.request[balance<-5]", false},
	{"http.request[balance<18446744073709551615]", true},
	{"http.request[size=4KiB]", true},
	{"http.request[size=4K]", true},
	{"http.request[size>4KiB]", false},
	{"http.request[size>1.5KiB]", true},
	{"http.request[size<18446744073709551615]", true},
	{"http.request[load=50%]", true},
	{"http.request[load>49.9%]", true},
	{"http.request[load<1]", true},
	{"http.request[load>nan]", false},
	{`http.request[path="/api/a,b"]`, true},
	{"http.request[path=/api/a]", false},
	{"http.request[path~/api/]", true},
	{"http.request[path!=x]", true},
	{"http.request[path<1]", false},
	{"http.request[code=200]", true},
	{"http.request[code>=200 & code<300]", true},
	{"http.request[gone=1]", false},
	{"http.request[gone!=1]", false},
	{"http.request[null!=1]", false},
	{"http.request[null=0]", false},
	{`http.request["a field"=1]`, true},
	{"http.request[status=503, path~^/api, duration>100ms]", true},
	{"http.request[status=503, path~^/web, duration>100ms]", false},
	{" http.request [ status = 503 , size > 1 ] ", true},
}

func TestQueries(t *testing.T) {
	for _, c := range queries {
		q, err := filter.ParseQuery(c.text)
		if err != nil {
			t.Error(err)
			continue
		}
		b := streamtest.NewBuilder()
		field := func(name string, typ stream.Type) stream.EventField { return stream.EventField{Name: name, Type: typ} }
		e := b.Event(stream.Event{Name: "http.request", Fields: []stream.EventField{
			field("status", stream.Int), field("balance", stream.Int), field("size", stream.Uint), field("load", stream.Float),
			field("path", stream.Text), field("code", stream.Text), field("null", stream.Int), field("a field", stream.Int)}})
		b.Process(stream.Process{Instance: 1}).Main.Interval(10, 150e6, e, 503, -5, uint64(4096), 0.5, "/api/a,b", "200", nil, 1)
		err = stream.Copy(stream.Discard, filter.During(b.Source(), []filter.Query{q}, filter.DuringOptions{}), stream.CopyOptions{})
		if got := err == nil; got != c.want || err != nil && !errors.Is(err, filter.ErrNoMatch) {
			t.Errorf("%s: wanted is %v (%v), want %v", c.text, got, err, c.want)
		}
	}
}

// A query that is read and written is read as the same query.
func FuzzQuery(f *testing.F) {
	for _, c := range queries {
		f.Add(c.text)
	}
	for _, c := range badQueries {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := filter.ParseQuery(text)
		if err != nil {
			if !errors.Is(err, filter.ErrQuery) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		again, err := filter.ParseQuery(q.String())
		if err != nil || again.String() != q.String() {
			t.Errorf("%q is written as %q, which is read as %q (%v)", text, q, again, err)
		}
	})
}
