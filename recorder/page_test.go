package recorder_test

import (
	"strings"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

// statedPage is what the recording's blocks say about a page.
type statedPage struct {
	tab, embedder, private uint64
	url                    string
	times                  int // how often it was stated
	ends                   int
}

// pages returns the pages in the recording, by their numbers.
func (r *recording) pages() map[uint64]*statedPage {
	found := map[uint64]*statedPage{}
	of := func(id uint64) *statedPage {
		if found[id] == nil {
			found[id] = &statedPage{}
		}
		return found[id]
	}
	for blocks := r.Blocks(func(chunks.Problem) {}); blocks.Next(); {
		b := blocks.Block()
		switch b.Kind {
		case rawformat.KindPage:
			b.Fields.Sint("time")
			tab := b.Fields.Uint("tab")
			p := of(b.Fields.Uint("window"))
			p.tab, p.embedder, p.private = tab, b.Fields.Uint("embedder"), b.Fields.Uint("private")
			p.url = string(b.Fields.Text("url"))
			p.times++
		case rawformat.KindPageEnd:
			b.Fields.Sint("time")
			of(b.Fields.Uint("window")).ends++
		}
	}
	return found
}

var rendered = recorder.NewEvent1("rendered", recorder.PageID("page"))

// Pages that are opened before and during a recording are in it, with the pages that they are
// embedded in, and markers refer to them.
func TestPages(t *testing.T) {
	outer := recorder.OpenPage("https://example.org/", recorder.Tab(7))
	defer outer.Close()
	rec := begin(t, recorder.Options{})
	inner := recorder.OpenPage("https://example.org/frame", recorder.EmbeddedIn(outer), recorder.Private())
	alone := recorder.OpenPage("job://nightly", recorder.EmbeddedIn(nil))
	defer alone.Close()
	rendered.Mark(inner.ID())
	inner.Close()
	inner.Close()
	var none *recorder.Page
	none.Close()
	r := finish(t, rec)
	pages := r.pages()
	for page, want := range map[*recorder.Page]statedPage{
		outer: {tab: 7, url: "https://example.org/", times: 1},
		inner: {tab: 7, embedder: outer.ID(), private: 1, url: "https://example.org/frame", times: 1, ends: 1},
		alone: {tab: alone.ID(), url: "job://nightly", times: 1},
	} {
		if got := pages[page.ID()]; got == nil || *got != want {
			t.Errorf("page %d is %+v, want %+v", page.ID(), got, want)
		}
	}
	if marks := r.of("rendered"); len(pages) != 3 || len(marks) != 1 || marks[0].args[0].Num != inner.ID() || none.ID() != 0 {
		t.Errorf("%d pages, markers %+v of page %d", len(pages), marks, inner.ID())
	}
	// Numbers of a process begin at a random multiple of 1<<24, so that processes have different ones.
	if id := outer.ID(); id < 1<<24 || id >= 1<<53 || id>>24 != inner.ID()>>24 {
		t.Errorf("numbers %x and %x", id, inner.ID())
	}
}

// An open page is stated again before the block that stated it is discarded. A closed page goes
// with its end. Closing states the page once more, so that an end never stands alone.
func TestPagesAreRestated(t *testing.T) {
	rec := begin(t, recorder.Options{Limit: 512 << 10, CPU: recorder.CPUOff})
	stays, goes := recorder.OpenPage("stays"), recorder.OpenPage("goes")
	goes.Close()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		for range 10 {
			markFrom(1, 1000)
			time.Sleep(2 * time.Millisecond) // like a program that goes on; the length does not matter
		}
		r := read(t, rec.Dir(), chunks.Unproven, chunks.Torn, chunks.Stale)
		if pages := r.pages(); pages[goes.ID()] == nil && pages[stays.ID()] != nil {
			break
		}
	}
	stays.Close()
	pages := finish(t, rec).pages()
	if len(pages) != 1 {
		t.Fatalf("%d pages, want the one that was open", len(pages))
	}
	if p := pages[stays.ID()]; p == nil || p.url != "stays" || p.times == 0 || p.ends != 1 {
		t.Errorf("the page that was open is %+v", p)
	}
}

// warnings returns the texts that the recording logs as warnings.
func (r *recording) warnings() (texts []string) {
	for blocks := r.Blocks(func(chunks.Problem) {}); blocks.Next(); {
		if b := blocks.Block(); b.Kind == rawformat.KindLog {
			b.Fields.Sint("time")
			if level := rawformat.LogLevel(b.Fields.Uint("level")); level == rawformat.LogWarn {
				texts = append(texts, string(b.Fields.Text("text")))
			}
		}
	}
	return texts
}

// Only one page for each 16 KiB of the limit is stated again, and those opened first have
// precedence. The others go when the ring wraps, and a warning says so, once.
func TestTooManyPages(t *testing.T) {
	const most, more = 32, 8
	rec := begin(t, recorder.Options{Limit: most * 16 << 10, CPU: recorder.CPUOff, HeapEvery: -1}) // heap samples would warn, too, because all earlier tests have allocated
	var opened []*recorder.Page
	for range most + more {
		page := recorder.OpenPage("page")
		defer page.Close()
		opened = append(opened, page)
	}
	var warned []string
	told := func(pages []*recorder.Page) (n int) {
		r := read(t, rec.Dir(), chunks.Unproven, chunks.Torn, chunks.Stale)
		if w := r.warnings(); len(w) > 0 {
			warned = w
		}
		found := r.pages()
		for _, p := range pages {
			if found[p.ID()] != nil {
				n++
			}
		}
		return n
	}
	if n := told(opened); n != most+more {
		t.Errorf("%d pages are told when they are opened", n)
	}
	first, last := most, more
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) && (first != most || last != 0); {
		for range 10 {
			markFrom(1, 1000)
			time.Sleep(2 * time.Millisecond) // like a program that goes on; the length does not matter
		}
		first, last = told(opened[:most]), told(opened[most:])
	}
	if first != most || last != 0 {
		t.Errorf("of the first %d pages %d are told, of the others %d", most, first, last)
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "more than 32 are open") {
		t.Errorf("warnings %q", warned)
	}
	finish(t, rec)
}
