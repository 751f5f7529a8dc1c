package terminal

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gdamore/tcell/v3"
	"github.com/gdamore/tcell/v3/vt"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// emulator is a terminal in which a run is shown. It keeps all that was written to it.
type emulator struct {
	vt.MockTerm
	mu    sync.Mutex
	bytes bytes.Buffer
	ended chan struct{}
}

func (e *emulator) Write(p []byte) (int, error) {
	e.mu.Lock()
	e.bytes.Write(p)
	e.mu.Unlock()
	return e.MockTerm.Write(p)
}

func (e *emulator) written() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.bytes.String()
}

// screen is what a person sees, without the spaces at the ends of lines.
func (e *emulator) screen() string {
	size, err := e.WindowSize()
	if err != nil {
		return err.Error()
	}
	var text strings.Builder
	for y := range size.Height {
		line := ""
		for x := 0; x < size.Width; {
			cell := e.GetCell(vt.Coord{X: vt.Col(x), Y: vt.Row(y)})
			if cell.C == "" {
				cell.C = " "
			}
			line += cell.C
			x += max(1, cell.W)
		}
		text.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return strings.TrimRight(text.String(), "\n") + "\n"
}

// open shows a run in a terminal of a size, until the test ends.
func open(t *testing.T, r *Run, width, height int) *emulator {
	t.Helper()
	e := &emulator{MockTerm: vt.NewMockTerm(vt.MockOptSize{X: vt.Col(width), Y: vt.Row(height)}), ended: make(chan struct{})}
	screen, err := tcell.NewTerminfoScreenFromTty(e)
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(e.ended)
		show(ctx, screen, r)
	}()
	t.Cleanup(func() {
		cancel()
		e.wait(t, "the end", func() bool { return e.quit() })
		screen.Fini()
	})
	return e
}

func (e *emulator) quit() bool {
	select {
	case <-e.ended:
		return true
	default:
		return false
	}
}

// wait waits for what must come.
func (e *emulator) wait(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s in a minute; the screen is\n%s", what, e.screen())
		}
	}
}

// see waits until the screen is that.
func (e *emulator) see(t *testing.T, want string) {
	t.Helper()
	want = strings.TrimPrefix(want, "\n")
	e.wait(t, "screen\n"+want, func() bool { return e.screen() == want })
}

// shows waits until all these texts are on the screen.
func (e *emulator) shows(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		e.wait(t, fmt.Sprintf("%q", text), func() bool { return strings.Contains(e.screen(), text) })
	}
}

func runOf(t *testing.T, b *streamtest.Builder) *Run {
	t.Helper()
	r := new(Run)
	if err := stream.Copy(streamtest.Validate(r), b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return r
}

// shop is two processes with all that can be shown. Its first second is busy with work, its last with packing.
func shop() *streamtest.Builder {
	b := streamtest.NewBuilder()
	order, tick := b.Event(stream.Event{Name: "order"}), b.Event(stream.Event{Name: "tick"})
	const second = stream.Time(time.Second)
	for i := range 2 {
		p := b.Process(stream.Process{Instance: uint64(i) + 1, Pid: i + 1, Name: "shop", Start: second, End: 9 * second})
		for at := second; at < 9*second; at += second / 64 { // one in each slot
			stack := b.Stack("main.main", "main.work")
			if at >= 8*second {
				stack = b.Stack("main.main", "main.pack", "zip.deflate")
			}
			p.Main.Add(streamtest.Row{Time: at, Stack: stack, Weight: 1, CPU: int64(second / 64)})
		}
		p.Main.Interval(2*second, int64(2*second), order)
		p.Main.Mark(6*second, stream.Instant, tick)
		p.Main.Allocate(3*second, stream.Instant, b.Stack("main.main", "main.cache"), 3<<20, 10)
		p.Main.Wait(4*second, b.Stack("main.main", "main.read"), int64(time.Minute), 3)
	}
	return b
}

// A person looks around: the whole, one process, zoomed, searched, in time, memory, and quits.
func TestLookAround(t *testing.T) {
	e := open(t, runOf(t, shop()), 50, 16)
	e.see(t, `
shop  all 2 processes
16s of CPU time  00:00:01.000, 8s
cpu         █▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▆
            ██████████████████████████████████████
order           ━━━━━━━━━━━
tick                               ·
 all
 main.main
 main.work                                   main.
                                             zip.d





16s 100.0 %  all                            ? help
`)
	e.SendRaw([]byte("jjl"))
	e.shows(t, "2s 12.5 %, self 0.0 %  main.pack")
	e.SendRaw([]byte("\r"))
	e.shows(t, "\n main.pack\n zip.deflate\n")
	e.SendRaw([]byte("p"))
	e.shows(t, "shop  shop · pid 1\n8s of CPU time", "1s 12.5 %, self 0.0 %  main.pack")
	e.SendRaw([]byte("0/WORK\r"))
	e.shows(t, "7s 87.5 %, self 87.5 %  main.work", "/WORK 87.5 %")
	e.SendRaw([]byte("0/main\r"))
	e.shows(t, "8s 100.0 %, self 0.0 %  main.main")
	e.SendRaw([]byte("nn"))
	e.shows(t, "1s 12.5 %, self 0.0 %  main.pack")
	e.SendRaw([]byte("n"))
	e.shows(t, "8s 100.0 %, self 0.0 %  main.main")
	e.SendRaw([]byte("/\x7f(\r"))
	e.shows(t, "no regular expression")
	e.SendRaw([]byte("o"))
	e.shows(t, "3.0 MiB in use", "main.cache")
	e.SendRaw([]byte("oo"))
	e.shows(t, "1m0s of waiting", "main.read")
	e.SendRaw([]byte("o++>>>>>>>>>>>>"))
	e.shows(t, "00:00:07.000, 2s", "of CPU time")
	e.SendRaw([]byte("?"))
	e.shows(t, "q             quit")
	e.SendRaw([]byte("x"))
	e.shows(t, "00:00:07.000, 2s")
	e.SetSize(vt.Coord{X: 30, Y: 6})
	e.shows(t, "no regular ex")
	e.SendRaw([]byte("q"))
	e.wait(t, "end", e.quit)
}

// No name reaches the terminal as a sequence, and wide characters stay in their boxes.
func TestHostileNames(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop\x1b]0;owned\a", Start: 1, End: 1000})
	for i := range 12 {
		p.Main.Sample(stream.Time(1+i), b.Stack("main.main", fmt.Sprintf("%d火火火火\x1b]0;owned\a\u009b31m\u202e", i%3), strings.Repeat("火", 100)))
	}
	p.Main.Interval(5, 50, b.Event(stream.Event{Name: "\x1b]0;owned\a\r\nfake"}))
	for _, size := range [][2]int{{80, 24}, {40, 10}, {41, 16}} {
		e := open(t, runOf(t, b), size[0], size[1])
		e.shows(t, "shop\ufffd]0;owned", "火火")
		e.SendRaw([]byte("jjlp/火\r"))
		e.shows(t, "/火 100.0 %")
		if out := e.written(); strings.Contains(out, "\x1b]0;owned") || strings.Contains(out, "\u009b") || strings.Contains(out, "\u202e") {
			t.Errorf("%v: %q", size, out)
		}
		if title := e.GetTitle(); strings.Contains(title, "owned") {
			t.Errorf("the title is %q", title)
		}
	}
}

// A run of nothing, and one of markers alone, are shown.
func TestEmpty(t *testing.T) {
	b := streamtest.NewBuilder()
	e := open(t, runOf(t, b), 60, 12)
	e.shows(t, "Recording", "no samples, memory or waits are in it")
	p := b.Process(stream.Process{Instance: 1, Name: "shop", Start: 1, End: 100})
	p.Main.Mark(5, stream.Instant, b.Event(stream.Event{Name: "tick"}))
	e = open(t, runOf(t, b), 60, 24)
	e.shows(t, "tick", "·")
	e.SendRaw([]byte("jklhoop0/x\rn+-<>q"))
	e.wait(t, "end", e.quit)
}

// With NO_COLOR there is none, and boxes have edges.
func TestNoColor(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	e := open(t, runOf(t, shop()), 60, 16)
	e.shows(t, "|main.work", "|main.pa")
	for _, colour := range []string{"\x1b[38", "\x1b[48", ";48;", "\x1b[4"} {
		if strings.Contains(e.written(), colour+"8;") || strings.Contains(e.written(), colour+";2;") || strings.Contains(e.written(), colour+";5;") {
			t.Errorf("there are colours: %q", e.written())
		}
	}
}

// Nothing that is typed, in a window of any size, breaks it.
func TestAnyKeys(t *testing.T) {
	const keys = "hjklnpPo+-<>0?x/a\r\x1b\x7f("
	run := runOf(t, shop())
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := newState(run)
		term := vt.NewMockTerm(vt.MockOptSize{X: vt.Col(1 + r.IntN(90)), Y: vt.Row(1 + r.IntN(30))})
		screen, err := tcell.NewTerminfoScreenFromTty(term)
		if err != nil {
			t.Fatal(err)
		}
		if err := screen.Init(); err != nil {
			t.Fatal(err)
		}
		for range 60 {
			switch key := rune(keys[r.IntN(len(keys))]); key {
			case '\r':
				s.follow(screen, tcell.NewEventKey(tcell.KeyEnter, "", tcell.ModNone))
			case '\x1b':
				s.follow(screen, tcell.NewEventKey(tcell.KeyEscape, "", tcell.ModNone))
			case '\x7f':
				s.follow(screen, tcell.NewEventKey(tcell.KeyBackspace, "", tcell.ModNone))
			default:
				s.follow(screen, tcell.NewEventKey(tcell.KeyRune, string(key), tcell.ModNone))
			}
			draw(screen, s)
			if s.from < 0 || s.to > 512 || s.to-s.from < leastSlots || !s.below(s.selected, s.root) {
				t.Fatalf("seed %d: %+v, root %d, selected %d", seed, s.choice, s.root, s.selected)
			}
		}
		screen.Fini()
	}
}

// Every kind of row is taken, in any order.
func TestSink(t *testing.T) {
	streamtest.TestSink(t, func(w io.Writer) stream.Sink { return &printed{new(Run), w} }, func(*testing.T, []byte) {})
}

// printed writes what is shown.
type printed struct {
	*Run
	w io.Writer
}

func (p *printed) Close() error {
	if err := p.Run.Close(); err != nil {
		return err
	}
	s := newState(p.Run)
	for range p.bases {
		if _, err := fmt.Fprintln(p.w, s.of().of, s.totals); err != nil {
			return err
		}
		s.nextBasis()
	}
	_, err := fmt.Fprintln(p.w, p.density(s.choice), p.tracks(s.choice))
	return err
}
