package html

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gprof/fixtures/judges"
	"gprof/stream/streamtest"
)

var screenshots = flag.String("screenshots", "", "directory to write screenshots to")

// screens are those that a page must be fit for.
var screens = map[string]judges.Screen{
	"desktop": {Width: 1600, Height: 1000},
	"laptop":  {Width: 1180, Height: 760, Dark: true},
	"phone":   {Width: 390, Height: 844, Touch: true},
}

// seen is a page in a browser.
type seen struct {
	*judges.Browser
	t *testing.T
}

// text computes an expression that is a text.
func (s seen) text(expression string) (text string) {
	s.t.Helper()
	if err := s.Eval(&text, "String("+expression+")"); err != nil {
		s.t.Fatal(err)
	}
	return text
}

// want computes an expression that is to be a text.
func (s seen) want(expression, want string) {
	s.t.Helper()
	if got := s.text(expression); got != want {
		s.t.Errorf("%s is %q, want %q", expression, got, want)
	}
}

func (s seen) do(errs ...error) {
	s.t.Helper()
	for _, err := range errs {
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// at is a place in an element: shares of its width and pixels from its top.
func (s seen) at(id string, share, down float64) (x, y float64) {
	s.t.Helper()
	var box struct{ X, Y, Width float64 }
	s.do(s.Eval(&box, "(() => { const e = document.getElementById('"+id+"'); e.scrollIntoView({block: 'nearest'}); return e.getBoundingClientRect().toJSON() })()"))
	return box.X + share*box.Width, box.Y + down
}

func (s seen) open(b *streamtest.Builder, screen judges.Screen) {
	s.t.Helper()
	page, _ := write(s.t, b.Source())
	file := filepath.Join(s.t.TempDir(), "page.html")
	s.do(os.WriteFile(file, page, 0o600))
	s.do(s.Show("file://"+file, screen))
}

func (s seen) picture(name string) {
	if *screenshots == "" {
		return
	}
	png, err := s.Screenshot()
	s.do(err, os.WriteFile(filepath.Join(*screenshots, name+".png"), png, 0o666))
}

// A real browser shows the page, from a file, and it does what it says.
//
//	go test ./convert/html -run Browser -screenshots DIR
func TestBrowser(t *testing.T) {
	b, err := judges.OpenBrowser(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	built := streamtest.NewBuilder()
	day(built)
	for name, screen := range screens {
		t.Run(name, func(t *testing.T) {
			s := seen{b, t}
			s.open(built, screen)
			s.picture(name)
			s.want("document.title", "checkout 1.42.0, thumbs · flame graph")
			s.want("document.documentElement.scrollWidth <= innerWidth", "true")
			s.want("document.querySelector('#path').textContent", "all 310 samples")
			if !screen.Touch {
				useMouse(s)
			} else {
				useFinger(s)
			}
			s.want("document.querySelector('#losses').hidden", "false")
		})
	}
	t.Run("hostile", func(t *testing.T) {
		built := streamtest.NewBuilder()
		villain(built)
		s := seen{b, t}
		s.open(built, screens["desktop"])
		s.want("document.images.length + document.scripts.length", "2")
		if title := s.text("document.title"); !strings.HasPrefix(title, "</script><img") {
			t.Errorf("the title is %q", title)
		}
		s.do(s.Mouse("mouseMoved", 300, 300), s.Mouse("mouseMoved", 320, 420))
		s.want("document.images.length", "0")
	})
	t.Run("empty", func(t *testing.T) {
		s := seen{b, t}
		s.open(streamtest.NewBuilder(), screens["desktop"])
		s.want("document.querySelector('#path').textContent", "all 0 samples")
		s.want("document.querySelector('#timeline').hidden", "true")
	})
	if problems := b.Problems(); len(problems) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(problems, "\n"))
	}
}

// Below all of the 310 samples are, from the left, main.main with 160, and serve
// with 140.
func useMouse(s seen) {
	s.t.Helper()
	path := "document.querySelector('#path').textContent"
	s.do(s.Mouse("mouseMoved", 0, 0))
	x, y := s.at("graph", 0.1, 30)
	s.do(s.Mouse("mouseMoved", x, y))
	s.want("document.querySelector('#tip b').textContent", "main.main")
	s.do(s.Click(x, y))
	s.want(path, "all›main.main 160 samples, 51.6 %")
	x, y = s.at("graph", 0.5, 10)
	s.do(s.Click(x, y))
	s.want(path, "all 310 samples")

	s.do(s.Key("/"), s.Key("z"), s.Key("s"), s.Key("t"), s.Key("d"))
	s.want("document.querySelector('#matched').textContent", "97.1 %")
	s.want("document.querySelectorAll('#functions tbody tr').length", "1")
	s.do(s.Key("("))
	s.want("document.querySelector('#matched').textContent", "not a regular expression")
	s.do(s.Key("Escape"))
	s.want("document.querySelector('#matched').textContent", "")
	// A stack that has main twice is counted once.
	s.do(s.Eval(nil, "$('search').value = 'main'; search()"))
	s.want("document.querySelector('#matched').textContent", "99.4 %")
	s.do(s.Eval(nil, "$('search').value = ''; search(); document.activeElement.blur()"), s.Key("i"))
	s.want("state.tree.rows[1].map(shortOf).join(' ') + ' ' + state.tree.total[0]", "zstd.(*Encoder).EncodeAll main.main main.main 310")
	s.do(s.Key("i"), s.Key("c"))
	s.want("document.querySelector('#legend').textContent.startsWith('github.com/klauspost/compress/zstd')", "true")
	s.do(s.Key("c"))

	left, y := s.at("strip", 0.4, 30)
	right, _ := s.at("strip", 0.8, 30)
	s.do(s.Mouse("mouseMoved", left, y), s.Mouse("mousePressed", left, y), s.Mouse("mouseMoved", right, y), s.Mouse("mouseReleased", right, y))
	s.want(path, "all 138 samples")
	s.picture("range")
	s.do(s.Key("Escape"))
	s.do(s.Eval(nil, "document.querySelector('#whole').click()"))
	s.want(path, "all 310 samples")
	s.do(s.Eval(nil, "change('track', 't2')"))
	s.want(path, "all 2 samples")
	s.do(s.Eval(nil, "change('track', 'all'); document.querySelector('#graph').focus()"), s.Key("ArrowDown"), s.Key("Enter"))
	s.want(path, "all›main.main 160 samples, 51.6 %")
	s.do(s.Key("Escape"))
	s.want(path, "all 310 samples")
}

// The first tap tells, the second zooms.
func useFinger(s seen) {
	s.t.Helper()
	path := "document.querySelector('#path').textContent"
	x, y := s.at("graph", 0.1, 30)
	tap(s, x, y)
	s.want("document.querySelector('#tip b').textContent + document.querySelector('#tip').hidden", "main.mainfalse")
	s.want(path, "all 310 samples")
	tap(s, x, y)
	s.want(path, "all›main.main 160 samples, 51.6 %")
}

// tap touches a place, and waits for the click that the browser makes of it.
func tap(s seen, x, y float64) {
	s.t.Helper()
	s.do(s.Eval(nil, "void (window.tapped = new Promise((done, never) => { addEventListener('click', done, {once: true}); setTimeout(never, 10000, 'no click') }))"))
	s.do(s.Tap(x, y))
	s.do(s.Eval(nil, "tapped.then(() => 0)"))
}
