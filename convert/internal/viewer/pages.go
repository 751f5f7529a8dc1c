package viewer

import (
	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// Pages writes the pages of a process, each once, as elements of a list. The
// formats do not say when a page was open.
type Pages struct {
	Pid string // that each page names, in a list of several processes; "" is none

	place  map[int64]int // by window: of a blank page in blanks, else written
	blanks []page
}

type page struct {
	tab, window, embedder int64
	private               bool
	url                   string
}

const (
	blankURL = "about:blank" // what a window shows until its page comes
	written  = -1
)

// Rows writes the pages of b that are new. Of a window's pages the first one
// counts, but for a blank one, which makes way and so waits.
func (p *Pages) Rows(out *jsontext.Writer, b *stream.Batch) {
	if p.place == nil {
		p.place = make(map[int64]int)
	}
	for i := range b.Time {
		if b.Phase[i] == stream.PhaseEnd {
			continue
		}
		row := page{integer(&b.Args[0], i), integer(&b.Args[1], i), integer(&b.Args[2], i), integer(&b.Args[3], i) != 0, text(&b.Args[4], i)}
		at, known := p.place[row.window]
		switch {
		case row.url != blankURL && (!known || at != written):
			p.place[row.window] = written
			row.write(out, p.Pid)
		case !known:
			p.place[row.window] = len(p.blanks)
			p.blanks = append(p.blanks, row)
		}
	}
}

// End writes the pages that stayed blank.
func (p *Pages) End(out *jsontext.Writer) {
	for i := range p.blanks {
		if row := &p.blanks[i]; p.place[row.window] != written {
			row.write(out, p.Pid)
		}
	}
}

func (p *page) write(out *jsontext.Writer, pid string) {
	out.BeginObject()
	if pid != "" {
		member(out, "pid", pid)
	}
	number(out, "tabID", p.tab)
	number(out, "innerWindowID", p.window)
	member(out, "url", p.url)
	number(out, "embedderInnerWindowID", p.embedder)
	out.Key("isPrivateBrowsing")
	out.Bool(p.private)
	out.EndObject()
}
