package recorder_test

import (
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

// statedPage is what blocks say of a page.
type statedPage struct {
	tab, embedder, private uint64
	url                    string
	times                  int // that it was stated
	ends                   int
}

// pages are those that the recording states, by their numbers.
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

// What is opened before and while something records is told, with what it is in, and
// markers name it.
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
	if id := outer.ID(); id == 0 || id >= 1<<53 || id>>24 != inner.ID()>>24 {
		t.Errorf("numbers %x and %x", id, inner.ID())
	}
}

// A page that is open is told again before what told it is discarded; one that is
// closed goes with its end. Closing tells it once more, so that the end never stands
// alone.
func TestPagesAreRestated(t *testing.T) {
	rec := begin(t, recorder.Options{Limit: 512 << 10, CPU: recorder.CPUOff})
	stays, goes := recorder.OpenPage("stays"), recorder.OpenPage("goes")
	goes.Close()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		for range 10 {
			markFrom(1, 1000)
			time.Sleep(2 * time.Millisecond) // as a program that goes on; it need not be this long
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
