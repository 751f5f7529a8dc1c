package extent

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// portably is Of by our loop alone.
func portably(text []byte) int {
	n := Begin(text[0])
	next, ended := n.find(text, 1)
	if !ended {
		return -1
	}
	return next
}

// same compares what sonic says of the object or list that text begins with, what our loop says, and what both say of parts of it.
func same(t *testing.T, text []byte, part int) {
	t.Helper()
	want := portably(text)
	if got := Of(text, 0); got != want && (got >= 0 || want < block) {
		t.Fatalf("%d, want %d: %.200q", got, want, text)
	}
	if got := native(text); Native && got > 0 != (want > 0) || got > 0 && got != want {
		t.Fatalf("sonic says %d, want %d: %.200q", got, want, text)
	}
	for _, find := range []func(n *Nested, text []byte, pos int) (int, bool){(*Nested).Find, (*Nested).find} {
		n, at, ended := Begin(text[0]), 1, false
		for at < len(text) && !ended && !n.TooDeep() {
			to := min(len(text), at+part)
			before := bytes.Clone(text)
			next, end := find(&n, text[:to], at)
			if !bytes.Equal(before, text) {
				t.Fatalf("the text was changed: %.200q", text)
			}
			at, ended = next, end
		}
		if ended != (want > 0) || ended && at != want {
			t.Fatalf("in parts of %d: %d %v, want %d: %.200q", part, at, ended, want, text)
		}
	}
}

// seeds are texts of all that matters.
func seeds() (all [][]byte) {
	row := `[12,-3.5e7,"a \"b\" \\",{"x":[1,{}],"y":"]}"},null,true],`
	object := `{"type":"flush","size":12,"in":{"a":[{}]},"path":"C:\\x\\"},`
	for _, text := range []string{
		`{}`, `[]`, `["]"]`, `{"a":"}"}`, `[{]`, `{[}`, `[}]`, `["a\"]"]`, `["\\"]`, `[\"]"]`, `[\\"]"]`, `[\]]`, `{"a`, `[`, `["\`, `[\`,
		"[" + strings.Repeat("1,", 3000) + "1]x", "[" + strings.Repeat(row, 400) + "0],1", "[" + strings.Repeat(object, 400) + "{}]]",
		"{" + strings.Repeat(`"k":`+object, 400) + `"z":0}}`, `["` + strings.Repeat(`x\\\"`, 900) + `",]`, strings.Repeat("[", 2000) + strings.Repeat("]", 2000),
		strings.Repeat(`[\`, 700) + strings.Repeat(`]`, 700), `["` + strings.Repeat("x", 3*block) + `"]`, "[" + strings.Repeat("[1],", 3*block/4) + "1]",
	} {
		all = append(all, []byte(text))
	}
	return all
}

func TestSame(t *testing.T) {
	for _, text := range seeds() {
		for _, part := range []int{1, 7, 64, 600, 700, 5000, block, 1 << 20} {
			if part > 60 || len(text) < 10000 {
				same(t, text, part)
			}
		}
	}
}

// TestRandom makes texts of the bytes that matter, which are malformed as a rule.
func TestRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const letters = `{}[]"\,1` + "aaaaaa"
	for range 800 {
		text := []byte{"{["[random.IntN(2)]}
		for n := random.IntN(3000); len(text) <= n; {
			text = append(text, letters[random.IntN(len(letters))])
		}
		same(t, text, 1+random.IntN(2000))
	}
}

// A value that is too deep is none, and deep ones end where they end.
func TestDepth(t *testing.T) {
	for _, depth := range []int{MaxDepth/2 + 10, MaxDepth, MaxDepth + 1} {
		text := []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))
		want := len(text)
		if depth > MaxDepth {
			want = -1
		}
		if got := Of(text, 0); got != want {
			t.Errorf("%d: %d, want %d", depth, got, want)
		}
		n := Begin('[')
		if next, ended := n.Find(text, 1); ended != (want > 0) || n.TooDeep() == ended || n.TooDeep() && next != MaxDepth+1 {
			t.Errorf("%d: %d %v", depth, next, ended)
		}
	}
}

func TestOf(t *testing.T) {
	for text, want := range map[string]int{
		`12,`: 2, `-1.5E+7 `: 7, `true]`: 4, `null`: -1, `"a"`: 3, `"a\""`: 5, `"a\"`: -1, `"\`: -1, `"`: -1, `:`: -1, ` 1`: -1,
		`"` + strings.Repeat("é", 40) + `\"" `: 84, `{"a":1}`: 7, `{"a":1`: -1,
	} {
		if got := Of([]byte(text), 0); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

func FuzzSame(f *testing.F) {
	for _, text := range seeds() {
		f.Add(text, uint16(100))
	}
	f.Fuzz(func(t *testing.T, text []byte, part uint16) {
		if len(text) > 0 && (text[0] == '{' || text[0] == '[') {
			same(t, text, 1+int(part))
		}
	})
}

// go test ./ingest/internal/extent -bench . -count 10 | go tool benchstat -col /by -
func BenchmarkNested(b *testing.B) {
	for name, element := range map[string]string{
		"numbers": "-1234567.5,", "objects": `{"type":"flush","size":1039439,"pages":86,"goroutine":2},`, "rows": `[12,3456.789,null,0,3,{"type":"flush","path":"/var/lib/data"}],`,
	} {
		text := []byte("[" + strings.Repeat(element, 1<<20/len(element)) + "0]")
		for by, find := range map[string]func(n *Nested, text []byte, pos int) (int, bool){"sonic": (*Nested).Find, "loop": (*Nested).find} {
			b.Run("of="+name+"/by="+by, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					n := Begin('[')
					if _, ended := find(&n, text, 1); !ended {
						b.Fatal("no end")
					}
				}
			})
		}
	}
}
