package png

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"strings"
	"testing"

	"gprof/convert/internal/flame"
	"gprof/convert/internal/pipeline"
	"gprof/stream"
	"gprof/stream/streamtest"
)

var update = flag.Bool("update", false, "write the golden files")

func newSink(w io.Writer) stream.Sink {
	out, err := pipeline.New(w, pipeline.Options{})
	if err != nil {
		panic(err)
	}
	return New(out)
}

func draw(t *testing.T, src stream.Source) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := stream.Copy(streamtest.Validate(newSink(&out)), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func decode(t *testing.T, file []byte) *image.Paletted {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	p, ok := m.(*image.Paletted)
	if !ok || p.Rect.Dx() != 1600 {
		t.Fatalf("%T, %v; want 1600 pixels with a palette", m, m.Bounds())
	}
	return p
}

func check(t *testing.T, file []byte) { decode(t, file) }

func TestSink(t *testing.T) { streamtest.TestSink(t, newSink, check) }

const start stream.Time = 1_795_000_000_000_000_000

// shop is a recording of four stacks: half of the samples are of one root
// function, three eighths of another, the rest of none.
func shop(version, work string) *streamtest.Builder {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Service: "checkout", Version: version, Host: "checkout-7f9c", Start: start, End: start + 2_000_000_000})
	function := func(name, category, color string) stream.Frame {
		return stream.Frame{Function: b.Tables.Strings.Intern(name), Category: b.Category(category, color)}
	}
	main, serve, called := function("main.main", "Program", "blue"), function("net/http.(*conn).serve", "Standard library", "green"), function(work, "Program", "blue")
	for i, stack := range []stream.StackID{b.StackOf(main), b.StackOf(main, called), b.StackOf(serve, called), 0} {
		p.Main.Add(streamtest.Row{Time: start + stream.Time(i), Stack: stack, Weight: int64(10 << (i % 3)), CPU: -1})
	}
	b.Tables.Ledger.Add(stream.Line{Process: "0000000000000001", Reason: stream.ReasonGap, What: "chunks", Count: 3})
	return b
}

const zstd = "github.com/klauspost/compress/zstd.(*Encoder).EncodeAll"

// The pixels are compared, not the bytes: those are up to Go's compressor.
//
// go test ./convert/png -run Golden -update
func TestGolden(t *testing.T) {
	file := draw(t, shop("1.42.0", zstd).Source())
	const golden = "testdata/golden.png"
	if *update {
		if err := os.WriteFile(golden, file, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	was, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := decode(t, file), decode(t, was); !same(got, want) {
		t.Errorf("%s differs; run with -update and look at it", golden)
	}
}

func same(a, b *image.Paletted) bool { return len(differ(a, b)) == 0 && a.Rect == b.Rect }

// differ returns the rows in which two pictures differ.
func differ(a, b *image.Paletted) (rows []int) {
	for y := a.Rect.Min.Y; y < a.Rect.Max.Y; y++ {
		for x := a.Rect.Min.X; x < a.Rect.Max.X; x++ {
			if a.At(x, y) != b.At(x, y) {
				rows = append(rows, y)
				break
			}
		}
	}
	return rows
}

// Boxes have their place, their width and the colour of their category.
func TestBoxes(t *testing.T) {
	m := decode(t, draw(t, shop("1.42.0", zstd).Source()))
	green, blue := rgb(flame.CategoryHex("green")), rgb(flame.CategoryHex("blue"))
	for _, tt := range []struct {
		what string
		x, y int
		like color.RGBA
	}{
		{"root", 1500, 123, rgb(flame.CategoryHex("transparent"))},
		{"half of the first row", 790, 142, green},
		{"gap", 799, 142, white},
		{"the next three eighths", 810, 135, blue},
		{"behind them", 1390, 142, white},
		{"below", 1000, 161, blue},
		{"beyond the quarter below", 1200, 161, white},
		{"legend", 25, 101, green},
	} {
		got, _ := m.At(tt.x, tt.y).(color.RGBA)
		if !tinted(got, tt.like) {
			t.Errorf("%s: %v, want a tint of %v", tt.what, got, tt.like)
		}
	}
}

// tinted says whether a colour is one of the tints of another.
func tinted(got, of color.RGBA) bool {
	for _, o := range opacities {
		if got == blend(white, of, o, 100) {
			return true
		}
	}
	return false
}

// Another title changes the rows of the title, another name those of its boxes.
func TestTexts(t *testing.T) {
	was := decode(t, draw(t, shop("1.42.0", zstd).Source()))
	rows := differ(was, decode(t, draw(t, shop("1.43.0", zstd).Source())))
	if len(rows) == 0 || rows[0] < 12 || rows[len(rows)-1] > 44 {
		t.Errorf("another version changes rows %v", rows)
	}
	rows = differ(was, decode(t, draw(t, shop("1.42.0", strings.Replace(zstd, "EncodeAll", "encodeAll", 1)).Source())))
	if len(rows) == 0 || rows[0] < 152 || rows[len(rows)-1] > 170 {
		t.Errorf("another name changes rows %v", rows)
	}
}

// The file describes the picture as text, for people who can't see it.
func TestDescription(t *testing.T) {
	file := draw(t, shop("1.42.0", zstd).Source())
	for _, want := range []string{
		"iTXtTitle\x00\x00\x00\x00\x00Flame graph of checkout 1.42.0",
		"2026-11-18 11:06:40.000 – 11:06:42.000 UTC (2s) · 1 process on checkout-7f9c · 80 samples\nMissing: 3 chunks (gap)\n",
	} {
		if !bytes.Contains(file, []byte(want)) {
			t.Errorf("the file does not hold %q", want)
		}
	}
}

func typefacesFor(t *testing.T) *typefaces {
	t.Helper()
	fonts, err := newTypefaces()
	if err != nil {
		t.Fatal(err)
	}
	return fonts
}

// A letter that the fonts lack is drawn as its escape, and is measured as that.
func TestMissingLetters(t *testing.T) {
	fonts := typefacesFor(t)
	for r, want := range map[rune]string{'a': "a", 'ß': "ß", 'Ж': "Ж", '…': "…", '函': `\u51fd`, '🐹': `\U0001f439`, '\n': `\u000a`, '\u202e': `\u202e`, 'ع': `\u0639`} {
		for s := range flame.NumStyles {
			if got := string(fonts[s].letter(r).glyphs); got != want {
				t.Errorf("%q in style %d is drawn as %s, want %s", r, s, got, want)
			}
		}
	}
	if wide, escaped := fonts.Width(flame.NameStyle, "main.函"), fonts.Width(flame.NameStyle, `main.\u51fd`); wide != escaped {
		t.Errorf("main.函 is %v wide, what is drawn of it %v", wide, escaped)
	}
	if same(decode(t, draw(t, shop("1", "main.函数").Source())), decode(t, draw(t, shop("1", "main.").Source()))) {
		t.Error("nothing is drawn for letters that the fonts lack")
	}
}

// A text that is cut ends with an ellipsis, within its room.
func TestFit(t *testing.T) {
	fonts := typefacesFor(t)
	for _, text := range []string{zstd, "main.函数函数函数函数", "\xff\xfe\xfd\xfc\xfb\xfa\xf9"} {
		all := fonts.Width(flame.NameStyle, text)
		if got := flame.Fit(fonts, flame.NameStyle, text, all); got != text {
			t.Errorf("%q is cut to %q, though there is room", text, got)
		}
		got := flame.Fit(fonts, flame.NameStyle, text, all-1)
		if w := fonts.Width(flame.NameStyle, got); w > all-1 || !strings.HasSuffix(got, "…") || !strings.HasPrefix(text, strings.TrimSuffix(got, "…")) {
			t.Errorf("%q is cut to %q, %v wide, with room for %v", text, got, w, all-1)
		}
	}
}

// The palette has room for the shades of any number of colours.
func TestPalette(t *testing.T) {
	for _, n := range []int{1, 5, 60, 120, 250} {
		var papers []paper
		for i := range n {
			papers = append(papers, paper{color.RGBA{uint8(i), 200, 100, 255}, inks[flame.NameStyle]})
		}
		c := newCanvas(1, 1, papers)
		if len(c.Palette) > maxColors {
			t.Errorf("%d papers: %d colours", n, len(c.Palette))
		}
		for _, p := range papers {
			shades := c.shades[p]
			if first, last := c.Palette[shades[0]], c.Palette[shades[len(shades)-1]]; len(shades) < 2 || first != p.ground || last != p.ink {
				t.Errorf("%d papers: from %v to %v, want %v", n, first, last, p)
			}
		}
	}
}

// Packages have the most colours, and recursion the most rows.
func TestSizeIsBounded(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Service: "checkout", Start: start})
	deep := strings.Split(strings.Repeat("main.recurse ", 999)+"main.end", " ")
	p.Main.Add(streamtest.Row{Time: start, Stack: b.Stack(deep...), Weight: 20_000, CPU: -1})
	for i := range 3000 {
		p.Main.Sample(start+stream.Time(i), b.Stack(fmt.Sprintf("example.org/p%d.f%d", i%50, i)))
	}
	file := draw(t, b.Source())
	if m := decode(t, file); m.Rect.Dy() > 3100 || len(file) > 300_000 {
		t.Errorf("%d bytes for %v", len(file), m.Rect)
	}
}
