package jsontext

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestAppendMillis(t *testing.T) {
	tests := []struct {
		ns   int64
		want string
	}{
		{0, "0"},
		{1, "0.000001"},
		{-1, "-0.000001"},
		{10, "0.00001"},
		{100_000, "0.1"},
		{999_999, "0.999999"},
		{1_000_000, "1"},
		{-1_000_000, "-1"},
		{1_000_001, "1.000001"},
		{12_340_000, "12.34"},
		{1_000_000_000, "1000"},
		{-1_500_000_000, "-1500"},
		{-1_500_500_000, "-1500.5"},
		{1_787_000_000_123_456_789, "1787000000123.456789"},
		{math.MaxInt64, "9223372036854.775807"},
		{math.MinInt64, "-9223372036854.775808"},
	}
	for _, tt := range tests {
		if got := string(AppendMillis(nil, tt.ns)); got != tt.want {
			t.Errorf("AppendMillis(%d) = %s, want %s", tt.ns, got, tt.want)
		}
	}
}

func TestAppendString(t *testing.T) {
	tests := []struct{ s, want string }{
		{"", `""`},
		{"plain", `"plain"`},
		{"a\"b\\c", `"a\"b\\c"`},
		{"\b\f\n\r\t\x00\x1f\x7f", `"\b\f\n\r\t\u0000\u001f` + "\x7f" + `"`},
		{"größe · 日本 😀", `"größe · 日本 😀"`},
		{"a\xffb\xc3", "\"a\ufffdb\ufffd\""},
		{"\xe2\x82", "\"\ufffd\ufffd\""},
	}
	for _, tt := range tests {
		if got := string(AppendString(nil, tt.s)); got != tt.want {
			t.Errorf("AppendString(%q) = %s, want %s", tt.s, got, tt.want)
		}
		if got := string(AppendString(nil, []byte(tt.s))); got != tt.want {
			t.Errorf("AppendString([]byte(%q)) = %s, want %s", tt.s, got, tt.want)
		}
	}
	b := []byte("größe \xff \n")
	dst := make([]byte, 0, 100)
	if n := testing.AllocsPerRun(10, func() { AppendString(dst, b) }); n != 0 {
		t.Errorf("AppendString allocates %v times", n)
	}
}

func TestAppendFloat(t *testing.T) {
	for _, f := range []float64{0, 1, -0.5, 1e300, 1e-300, math.Pi} {
		var got float64
		if err := json.Unmarshal(AppendFloat(nil, f), &got); err != nil || got != f {
			t.Errorf("AppendFloat(%v) reads back as %v, %v", f, got, err)
		}
	}
	for f, want := range map[float64]string{ // as JavaScript writes them
		0: "0", 1e6: "1000000", 123456789012: "123456789012", 0.1: "0.1", 1e20: "100000000000000000000", 1e21: "1e+21",
		1e-6: "0.000001", 1e-7: "1e-7", -1.5e-10: "-1.5e-10", 1.25e100: "1.25e+100", 5e-324: "5e-324",
	} {
		if got := string(AppendFloat(nil, f)); got != want {
			t.Errorf("AppendFloat(%v) = %s, want %s", f, got, want)
		}
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := string(AppendFloat(nil, f)); got != "null" {
			t.Errorf("AppendFloat(%v) = %s, want null", f, got)
		}
	}
}

func TestWriter(t *testing.T) {
	var out strings.Builder
	w := NewWriter(&out)
	w.BeginObject()
	w.Key("a")
	w.BeginArray()
	w.EndArray()
	w.Key("b")
	w.BeginArray()
	w.Int(-1)
	w.String("x")
	w.BeginObject()
	w.EndObject()
	w.Raw("[1,2],[3]")
	w.RawBytes([]byte("4"))
	w.Splice()
	out.WriteString("5,6")
	w.Null()
	w.Bool(true)
	w.Fixed(-12500, 3)
	w.EndArray()
	w.Key("c\n")
	w.Int(0)
	w.EndObject()
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	want := `{"a":[],"b":[-1,"x",{},[1,2],[3],4,5,6,null,true,-12.5],"c\n":0}`
	if out.String() != want {
		t.Errorf("wrote %s\nwant  %s", out.String(), want)
	}
}

// fullDisk refuses everything after a number of writes.
type fullDisk struct{ writes int }

var errFull = errors.New("no space")

func (f *fullDisk) Write(b []byte) (int, error) {
	if f.writes--; f.writes < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestWriterKeepsFirstError(t *testing.T) {
	sink := &fullDisk{writes: 1}
	w := NewWriter(sink)
	for range 100 {
		w.String(strings.Repeat("x", 10000))
	}
	if err := w.Err(); !errors.Is(err, errFull) {
		t.Errorf("Err = %v, want %v", err, errFull)
	}
	if err := w.Flush(); !errors.Is(err, errFull) {
		t.Errorf("Flush = %v, want %v", err, errFull)
	}
	if sink.writes != -1 {
		t.Errorf("%d writes after the error", -1-sink.writes)
	}
}

// The text of a string is what encoding/json would have written, or reads as the same.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a", "\"\\\n\x00", "ü\xff\xe2\x82😀", "\u2028</script>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got, want string
		if err := json.Unmarshal(AppendString(nil, s), &got); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &want); err != nil || got != want {
			t.Errorf("%q reads back as %q, want %q", s, got, want)
		}
	})
}

func FuzzAppendFixed(f *testing.F) {
	for _, n := range []int64{0, 1, -1, 999_999, 1_000_000, math.MinInt64, math.MaxInt64} {
		f.Add(n, uint8(6))
	}
	f.Fuzz(func(t *testing.T, n int64, d uint8) {
		decimals := int(d % 19)
		text := AppendFixed(nil, n, decimals)
		if !json.Valid(text) {
			t.Fatalf("AppendFixed(%d, %d) = %s: no JSON number", n, decimals, text)
		}
		got, ok := new(big.Rat).SetString(string(text))
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
		if want := new(big.Rat).SetFrac(big.NewInt(n), scale); !ok || got.Cmp(want) != 0 {
			t.Errorf("AppendFixed(%d, %d) = %s, want %v", n, decimals, text, want)
		}
		if s := string(text); strings.Contains(s, ".") && strings.HasSuffix(s, "0") {
			t.Errorf("AppendFixed(%d, %d) = %s: trailing zero", n, decimals, s)
		}
	})
}

// Numbers of any count of digits, and their neighbours.
func TestAppendIntAtPowers(t *testing.T) {
	for _, power := range powers {
		for n := int64(power) - 11; n <= int64(power)+11; n++ {
			checkInteger(t, n)
			checkInteger(t, -n)
		}
	}
	for n := range int64(100_000) {
		checkInteger(t, n)
		checkInteger(t, 1009*n)
	}
}

func FuzzAppendInt(f *testing.F) {
	for _, n := range []int64{0, -1, eight - 1, eight, eight * eight, math.MinInt64, math.MaxInt64} {
		f.Add(n)
	}
	f.Fuzz(checkInteger)
}

// checkInteger compares with package strconv, and AppendMillis with AppendFixed.
func checkInteger(t *testing.T, n int64) {
	if got, want := string(AppendInt(nil, n)), strconv.FormatInt(n, 10); got != want {
		t.Errorf("AppendInt(%d) = %s", n, got)
	}
	if got, want := string(AppendUint(nil, uint64(n))), strconv.FormatUint(uint64(n), 10); got != want {
		t.Errorf("AppendUint(%s) = %s", want, got)
	}
	if got, want := string(AppendMillis(nil, n)), string(AppendFixed(nil, n, 6)); got != want {
		t.Errorf("AppendMillis(%d) = %s, want %s", n, got, want)
	}
}

func FuzzAppendFloat(f *testing.F) {
	f.Add(1.5)
	f.Fuzz(func(t *testing.T, x float64) {
		text := AppendFloat(nil, x)
		var got *float64
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("AppendFloat(%v) = %s: %v", x, text, err)
		}
		if got == nil != (math.IsNaN(x) || math.IsInf(x, 0)) || got != nil && *got != x {
			t.Errorf("AppendFloat(%v) = %s", x, text)
		}
	})
}

// Numbers of one to eight digits, in no order.
//
// go test ./convert/internal/jsontext -bench Integer | benchstat -col /impl -
func BenchmarkInteger(b *testing.B) {
	numbers := make([]uint64, 1024)
	for i := range numbers {
		numbers[i] = rand.Uint64N(eight) >> rand.IntN(27)
	}
	dst := make([]byte, 0, 64)
	for _, impl := range []struct {
		name   string
		append func(dst []byte, n uint64) []byte
	}{{"word", AppendUint}, {"strconv", func(dst []byte, n uint64) []byte { return strconv.AppendUint(dst, n, 10) }}} {
		b.Run("impl="+impl.name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				dst = impl.append(dst[:0], numbers[i%len(numbers)])
			}
		})
	}
}

// go test ./convert/internal/jsontext -bench Time | benchstat -col /impl -
func BenchmarkTime(b *testing.B) {
	const ns = 123_456_789_012
	dst := make([]byte, 0, 64)
	b.Run("impl=fixed", func(b *testing.B) {
		for b.Loop() {
			dst = AppendMillis(dst[:0], ns)
		}
	})
	b.Run("impl=float", func(b *testing.B) {
		for b.Loop() {
			dst = AppendFloat(dst[:0], float64(ns)/1e6)
		}
	})
	b.Run("impl=fmt", func(b *testing.B) {
		for b.Loop() {
			dst = fmt.Appendf(dst[:0], "%d.%06d", ns/1_000_000, ns%1_000_000)
		}
	})
}
