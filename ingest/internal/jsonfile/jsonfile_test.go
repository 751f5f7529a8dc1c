package jsonfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"gprof/ingest/internal/damage"
)

// Index keeps no more than its bound, of members, objects, elements or texts. The part before
// the bound is there.
func TestTooMany(t *testing.T) {
	const n = 1000
	for what, text := range map[string]string{
		"members":  `{"first":1,"a":{` + strings.Repeat(`"":0,`, n) + `"":0}}`,
		"keys":     `{"first":1,` + numbered(n) + `"":0}`,
		"objects":  `{"first":1,"all":[` + strings.Repeat(`{},`, n) + `{}]}`,
		"elements": `{"first":1,"all":[` + strings.Repeat(`0,`, n) + `0]}`,
		"texts":    `{"first":1,"a":"` + strings.Repeat("x", maxShort-2) + `","b":"` + strings.Repeat("x", maxShort-2) + `"}`,
	} {
		all := func(key string) bool { return key == "all" }
		if _, held, err := index(strings.NewReader(text), int64(len(text)), all, 1<<20); err != nil || held < 2*maxShort {
			t.Errorf("%s: %d bytes held, %v", what, held, err)
		}
		root, _, err := index(strings.NewReader(text), int64(len(text)), all, 2*maxShort)
		if !errors.Is(err, ErrMany) || root.Get("first") == nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// numbered is n members.
func numbered(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, `"%d":0,`, i)
	}
	return out.String()
}

// slow is a file that gives a few bytes at a time, so that each value lies across
// the ends of a window.
type slow struct {
	*strings.Reader
	n int
}

func (s slow) ReadAt(p []byte, off int64) (int, error) {
	return s.Reader.ReadAt(p[:min(s.n, len(p))], off)
}

// dump reads a value with a Scanner and writes it as it understood it.
func dump(s *Scanner, out *strings.Builder, depth int) {
	switch s.Kind() {
	case Object:
		s.Object()
		out.WriteByte('{')
		for n := 0; ; n++ {
			key, ok := s.Key()
			if !ok {
				break
			}
			if n > 0 {
				out.WriteByte(',')
			}
			text, _ := json.Marshal(string(key))
			out.Write(append(text, ':'))
			dump(s, out, depth+1)
		}
		out.WriteByte('}')
	case Array:
		s.Array()
		out.WriteByte('[')
		for n := 0; s.More(); n++ {
			if n > 0 {
				out.WriteByte(',')
			}
			dump(s, out, depth+1)
		}
		out.WriteByte(']')
	case String:
		text, _ := json.Marshal(string(s.Text()))
		out.Write(text)
	default:
		out.Write(s.Raw())
	}
}

const sample = `{"meta": {"version":36,"name":"a \"b\" \\ \u00e9 \ud83d\ude00","none":null}, "threads" :[ {"x":[1,-2.5e3,true,false,null,{"y":"]}"}]},{} ] ,"end":0}`

func TestScanner(t *testing.T) {
	var want bytes.Buffer
	var value any
	if err := json.Unmarshal([]byte(sample), &value); err != nil {
		t.Fatal(err)
	}
	if err := json.Compact(&want, []byte(sample)); err != nil {
		t.Fatal(err)
	}
	for n := 1; n < 40; n++ {
		s := NewScanner(slow{strings.NewReader(sample), n}, 0, int64(len(sample)))
		var got strings.Builder
		dump(s, &got, 0)
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
		if normal(t, got.String()) != normal(t, want.String()) || s.Off() != int64(len(sample)) {
			t.Fatalf("by %d bytes: %s, want %s", n, got.String(), want.String())
		}
	}
}

// normal is a text without its spaces; numbers, however large, are as they were.
func normal(t *testing.T, text string) string {
	t.Helper()
	var value any
	in := json.NewDecoder(strings.NewReader(text))
	in.UseNumber()
	if err := in.Decode(&value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	out, _ := json.Marshal(value)
	return string(out)
}

// TestCut cuts a file at every byte: there is an error, with the place where the
// file ends, and what stood before is there.
func TestCut(t *testing.T) {
	for n := range len(sample) {
		cut := sample[:n]
		root, _, err := Index(strings.NewReader(cut), int64(n), func(key string) bool { return key == "threads" })
		if !errors.Is(err, damage.ErrTorn) && n > 0 {
			t.Fatalf("%q: %v", cut, err)
		}
		var at *damage.Error
		if errors.As(err, &at) && at.Off > int64(n) {
			t.Fatalf("%q: byte %d", cut, at.Off)
		}
		if n > strings.Index(cut, `,"name`) && strings.Contains(cut, `,"name`) && string(root.Get("meta", "version").Raw) != "36" {
			t.Fatalf("%q: version %v", cut, root.Get("meta"))
		}
	}
}

func TestIndex(t *testing.T) {
	root, _, err := Index(slow{strings.NewReader("\ufeff" + sample + " \n"), 7}, int64(len(sample)+5), func(key string) bool { return key == "threads" })
	if err != nil {
		t.Fatal(err)
	}
	if got := string(root.Get("meta", "name").Raw); got != `"a \"b\" \\ \u00e9 \ud83d\ude00"` {
		t.Error(got)
	}
	if got := AppendText(nil, root.Get("meta", "name").Raw); string(got) != `a "b" \ é 😀` {
		t.Errorf("%s", got)
	}
	if root.Get("meta", "none") != nil || root.Get("nothing", "at", "all") != nil {
		t.Error("null is there")
	}
	threads := root.Get("threads").List()
	if len(threads) != 2 || threads[0].Get("x").Kind != Array || threads[0].Get("x").List() != nil {
		t.Errorf("%+v", threads)
	}
	s := NewScanner(strings.NewReader("\ufeff"+sample), threads[0].Get("x").Off, int64(len(sample)+3))
	if raw := string(s.Raw()); raw != `[1,-2.5e3,true,false,null,{"y":"]}"}]` {
		t.Error(raw)
	}
}

func TestHostile(t *testing.T) {
	for text, want := range map[string]error{
		strings.Repeat("[", maxDepth+1):     ErrDepth,
		`{"a":1}}`:                          ErrSyntax,
		`{"a" 1}`:                           ErrSyntax,
		`{1:1}`:                             ErrSyntax,
		`{"a":`:                             damage.ErrTorn,
		`"a\`:                               damage.ErrTorn,
		`]`:                                 ErrSyntax,
		``:                                  damage.ErrTorn,
		`"` + strings.Repeat("x", 70000):    damage.ErrTorn,
		`{"threads":[{"x":1},]}`:            ErrSyntax,
		`{"a":"` + strings.Repeat(`\`, 101): damage.ErrTorn,
	} {
		_, _, err := Index(strings.NewReader(text), int64(len(text)), func(key string) bool { return key == "threads" })
		if !errors.Is(err, want) {
			t.Errorf("%.20s: %v, want %v", text, err, want)
		}
	}
	long := `["` + strings.Repeat("x", maxText+1) + `"]`
	s := NewScanner(strings.NewReader(long), 0, int64(len(long)))
	s.Array()
	if s.More(); s.Text() != nil || !errors.Is(s.Err(), damage.ErrTooBig) {
		t.Error(s.Err())
	}
}

func TestFixed(t *testing.T) {
	for _, tt := range []struct {
		text   string
		digits int
		want   int64
	}{
		{"0", 6, 0}, {"-0", 6, 0}, {"1", 6, 1e6}, {"-1.5", 6, -1500000}, {"1.2345674", 6, 1234567}, {"1.2345675", 6, 1234568},
		{"-1.2345675", 6, -1234568}, {"0.9999999", 6, 1e6}, {"1.00000049999999", 6, 1e6}, {"1e3", 6, 1e9}, {"1.5E-3", 6, 1500},
		{"1580000000000.123", 6, 1580000000000123000}, {"12.5", 0, 13}, {"12.4999", 0, 12}, {"5.234999999999999", 3, 5235},
		{"9223372036854775807", 0, 1<<63 - 1}, {"-9223372036854775808", 0, -1 << 63},
	} {
		if got, ok := Fixed([]byte(tt.text), tt.digits); !ok || got != tt.want {
			t.Errorf("%s: %d %v, want %d", tt.text, got, ok, tt.want)
		}
	}
	for _, text := range []string{"", "-", "x", "1e300", "99999999999999999999", "null", "1.2.3", `"1"`, "9223372036855"} {
		if got, ok := Fixed([]byte(text), 6); ok && text != "9223372036854" {
			t.Errorf("%s: %d", text, got)
		}
	}
	for _, n := range []int64{0, 1, -1, 1<<63 - 1, -1 << 63, 123456789012345678} {
		if got, ok := Int([]byte(strconv.FormatInt(n, 10))); !ok || got != n {
			t.Error(got, ok, n)
		}
	}
	if _, ok := Int([]byte("1.5")); ok {
		t.Error("1.5 is an integer")
	}
}

// FuzzIndex compares what is understood with encoding/json, for all that is JSON,
// and wants no more than an error for the rest.
func FuzzIndex(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(`{"a":[1,2,{"b":"\ud800"}]}`))
	f.Add([]byte(`[1e999]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		all := func(string) bool { return true }
		_, _, err := Index(bytes.NewReader(text), int64(len(text)), all)
		if !json.Valid(text) {
			return
		}
		if err != nil && !errors.Is(err, ErrDepth) {
			t.Fatalf("%v", err)
		}
		var got strings.Builder
		s := NewScanner(slow{strings.NewReader(string(text)), 3}, 0, int64(len(text)))
		if dump(s, &got, 0); s.Err() != nil {
			t.Fatal(s.Err())
		}
		if normal(t, got.String()) != normal(t, string(text)) {
			t.Fatalf("%q: %s", text, got.String())
		}
	})
}

// Elements, lists in a list, and members are the same whatever reading gives at once, and in whatever way they are laid out.
func TestParts(t *testing.T) {
	const text = `[[1,"a\"]",{"x":"]"},[2]], [ 3 ],[],4,[5,{"y":[6]},null],{"k":1,"\u006b":{"z":"}"}, "l":[7]},[1}]`
	want := []string{`1|"a\"]"|{"x":"]"}|[2] true 1`, `3 true 27`, ` true 33`, ` false 36`, `5|{"y":[6]}|null true 38`, ` false 57`, `1 false 93`}
	for n := 1; n <= len(text); n++ {
		s := NewScanner(slow{strings.NewReader(text), n}, 0, int64(len(text)))
		s.Array()
		var got []string
		for {
			all, whole, off, ok := s.NextList(nil)
			if !ok || s.Err() != nil {
				break
			}
			got = append(got, fmt.Sprintf("%s %v %d", bytes.Join(all, []byte("|")), whole, off))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || !errors.Is(s.Err(), damage.ErrTorn) {
			t.Fatalf("by %d bytes: %q, %v", n, got, s.Err())
		}
	}
	members, whole := Members(nil, []byte(text[57:92]))
	if got := fmt.Sprintf("%s %v", members, whole); got != `[{k 1} {k {"z":"}"}} {l [7]}] true` {
		t.Error(got)
	}
	if all, whole := Elements(nil, []byte(`[1, 2,"]`)); whole || len(all) != 2 {
		t.Errorf("%s %v", all, whole)
	}
}
