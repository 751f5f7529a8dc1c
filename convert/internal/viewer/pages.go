package viewer

import (
	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// Pages writes the pages of a process, each once, as elements of a list. The
// formats do not say when a page was open.
type Pages struct{ seen map[int64]bool }

// Rows writes the pages of b that are new.
func (p *Pages) Rows(out *jsontext.Writer, b *stream.Batch) {
	if p.seen == nil {
		p.seen = make(map[int64]bool)
	}
	for i := range b.Time {
		tab, window, embedder := integer(&b.Args[0], i), integer(&b.Args[1], i), integer(&b.Args[2], i)
		if b.Phase[i] == stream.PhaseEnd || p.seen[window] {
			continue
		}
		p.seen[window] = true
		out.BeginObject()
		number(out, "tabID", tab)
		number(out, "innerWindowID", window)
		member(out, "url", text(&b.Args[4], i))
		number(out, "embedderInnerWindowID", embedder)
		out.Key("isPrivateBrowsing")
		out.Bool(integer(&b.Args[3], i) != 0)
		out.EndObject()
	}
}
