package viewer

import (
	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// Pages are the pages of a process, each once. The formats do not say when a page
// was open.
type Pages struct {
	list  []page
	place map[int64]int // in list, by window
}

type page struct {
	tab, window, embedder int64
	private               bool
	url                   string
}

// blankURL is what a window shows until its page comes.
const blankURL = "about:blank"

// Rows takes the pages of b. Of a window's pages the first one counts, but for a
// blank one, which makes way.
func (p *Pages) Rows(b *stream.Batch) {
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
		case !known:
			p.place[row.window] = len(p.list)
			p.list = append(p.list, row)
		case p.list[at].url == blankURL:
			p.list[at] = row
		}
	}
}

// End writes the pages as elements of a list.
func (p *Pages) End(out *jsontext.Writer) {
	for _, row := range p.list {
		out.BeginObject()
		number(out, "tabID", row.tab)
		number(out, "innerWindowID", row.window)
		member(out, "url", row.url)
		number(out, "embedderInnerWindowID", row.embedder)
		out.Key("isPrivateBrowsing")
		out.Bool(row.private)
		out.EndObject()
	}
}
