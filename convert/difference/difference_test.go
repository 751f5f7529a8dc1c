package difference

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gprof/convert/compare"
	"gprof/fixtures/judges"
	"gprof/stream"
	"gprof/stream/streamtest"
)

var screenshots = flag.String("screenshots", "", "directory to write screenshots to")

// setOf sums up processes that have so many samples of stacks.
func setOf(t *testing.T, processes int, stacks map[string]int64) *compare.Set {
	t.Helper()
	b := streamtest.NewBuilder()
	for i := range processes {
		p := b.Process(stream.Process{Instance: uint64(i) + 1, Pid: i, Service: "shop", Version: "1.2"})
		at := stream.Time(1)
		for stack, n := range stacks {
			n += int64(i)
			p.Main.Add(streamtest.Row{Time: at, Stack: b.Stack(strings.Split(stack, "|")...), Weight: n, CPU: n * 1e7})
			at++
		}
	}
	sink := compare.New(math.MinInt64, math.MaxInt64)
	sink.Stacks = true
	if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return sink.Set
}

const villain = "</script></title><img onerror=x src=y>\"'&\x00\xff]]>"

var (
	before = map[string]int64{"main.main|main.read": 500, "main.main|main.write|" + villain: 700, "main.main|main.rank": 200, "main.main|main.check": 300}
	after  = map[string]int64{"main.main|main.read": 500, "main.main|main.write|" + villain: 700, "main.main|main.rank": 500, "main.main|main.check1": 180, "main.main|main.check2": 120}
)

func draw(t *testing.T, name string, base, new *compare.Set) []byte {
	t.Helper()
	r, err := compare.Compare(base, new, compare.Options{Tree: true})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Write(&out, name, r); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Names are data: an SVG has no elements but those of pictures. What is coloured has its interval, and
// what was matched is in the legend.
func TestPicture(t *testing.T) {
	svg := draw(t, "d.svg", setOf(t, 5, before), setOf(t, 5, after))
	in := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && !strings.Contains(" svg style rect text g title ", " "+e.Name.Local+" ") {
			t.Errorf("element %s", e.Name.Local)
		}
	}
	for _, want := range []string{
		"What changed in CPU time of shop 1.2", "base: 5 processes, 8,540 samples", "Matched: cost moved from main.check to main.check1 and main.check2, as called from main.main",
		`<title>main.rank: 11.8 % → 29.4 %, +149 % (95 %: +128 % to +172 %), more than noise</title>`, "its cost moved to or from its neighbours",
	} {
		if !bytes.Contains(svg, []byte(want)) {
			t.Errorf("there is no %q", want)
		}
	}
	if n := bytes.Count(svg, []byte(grewHex)); n != 3 {
		t.Errorf("%d times orange, want the legend and main.rank on both sides", n)
	}
	if bytes.Count(svg, []byte(fellHex)) != 1 {
		t.Error("something is blue besides the legend")
	}
	if png := draw(t, "d.png", setOf(t, 5, before), setOf(t, 5, after)); !bytes.HasPrefix(png, []byte("\x89PNG")) {
		t.Error("no PNG")
	}
}

// A box says the change for which it has its colour: one that took less by itself is blue and says by how much, though it takes
// more with what it calls now.
func TestColourSaysWhatItIs(t *testing.T) {
	base := map[string]int64{"main.main|main.find": 500, "main.main|main.a": 500, "main.main|main.b": 500, "main.main|main.c": 500}
	now := maps.Clone(base)
	now["main.main|main.find"], now["main.main|main.find|main.inner"] = 100, 900
	svg := string(draw(t, "d.svg", setOf(t, 5, base), setOf(t, 5, now)))
	for _, want := range []string{" % main.find<", ">new main.inner<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("there is no %q", want)
		}
	}
	if strings.Count(svg, fellHex) != 3 || strings.Contains(svg, ">+") {
		t.Errorf("%d times blue, want the legend and main.find on both sides", strings.Count(svg, fellHex))
	}
}

// Where nothing can be told, nothing is coloured, and the picture says why.
func TestNothingToTell(t *testing.T) {
	other := map[string]int64{"a": 10, "b": 500}
	for name, c := range map[string]struct {
		base, new *compare.Set
		want      string
	}{
		"one process":        {setOf(t, 1, before), setOf(t, 1, after), "the base set has 1; record at least 3"},
		"different programs": {setOf(t, 5, before), setOf(t, 5, other), "no function is in both sets"},
		"nothing":            {setOf(t, 0, nil), setOf(t, 0, nil), "the base set has 0"},
		"nothing now":        {setOf(t, 5, before), setOf(t, 0, nil), "the new set has 0"},
	} {
		t.Run(name, func(t *testing.T) {
			svg := draw(t, "d.svg", c.base, c.new)
			for _, want := range []string{c.want, "Nothing is coloured"} {
				if !bytes.Contains(svg, []byte(want)) {
					t.Errorf("there is no %q", want)
				}
			}
			if bytes.Count(svg, []byte(grewHex))+bytes.Count(svg, []byte(fellHex)) != 2 {
				t.Error("something is coloured")
			}
		})
	}
}

// The page zooms into both sides, finds functions, and takes no orders from names.
//
//	go test ./convert/difference -run Browser -screenshots DIR
func TestBrowser(t *testing.T) {
	b, err := judges.OpenBrowser(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	file := filepath.Join(t.TempDir(), "d.html")
	if err := os.WriteFile(file, draw(t, file, setOf(t, 5, before), setOf(t, 5, after)), 0o600); err != nil {
		t.Fatal(err)
	}
	want := func(expression, want string) {
		t.Helper()
		var got string
		if err := b.Eval(&got, "String(("+expression+"))"); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s is %q, want %q", expression, got, want)
		}
	}
	for name, screen := range map[string]judges.Screen{"desktop": {Width: 1400, Height: 900, Dark: true}, "phone": {Width: 390, Height: 844, Touch: true}} {
		if err := b.Show("file://"+file, screen); err != nil {
			t.Fatal(err)
		}
		want("document.images.length + document.scripts.length", "1")
		want("document.documentElement.scrollWidth <= innerWidth", "true")
		want("[...document.querySelectorAll('tr[data-n] button')].map(b => b.textContent)", "main.rank")
		want("document.querySelector('tr[data-n] button').click(), boxes.filter(b => b.g.style.display !== 'none').map(b => b.text.textContent).join()", "all,all,main.main,main.main,+149 % main.rank,+149 % main.rank")
		want("Math.round(Math.max(...boxes.filter(b => b.label.includes('rank')).map(b => number(b.rect, 'width'))))", "1560")
		if *screenshots != "" {
			if png, err := b.Screenshot(); err != nil || os.WriteFile(filepath.Join(*screenshots, name+".png"), png, 0o666) != nil {
				t.Errorf("no screenshot: %v", err)
			}
		}
		want("document.querySelector('#whole').click(), boxes.filter(b => b.g.style.display === 'none').length", "0")
		want("$('search').value = 'RANK', $('search').dispatchEvent(new Event('input')), boxes.filter(b => !b.g.classList.contains('other')).length", "2")
	}
	if problems := b.Problems(); len(problems) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(problems, "\n"))
	}
}
