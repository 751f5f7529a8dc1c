package gecko

import "gprof/stream"

// pages is the list of pages. The format does not say when a page was open.
type pages struct{ seen map[int64]bool }

func (p *pages) begin(s *Sink) {
	p.seen = make(map[int64]bool)
	s.out.Key("pages")
	s.out.BeginArray()
}

func (p *pages) rows(s *Sink, b *stream.Batch) {
	for i := range b.Time {
		tab, window, embedder := integer(&b.Args[0], i), integer(&b.Args[1], i), integer(&b.Args[2], i)
		if b.Phase[i] == stream.PhaseEnd || p.seen[window] {
			continue
		}
		p.seen[window] = true
		s.out.BeginObject()
		s.number("tabID", tab)
		s.number("innerWindowID", window)
		s.member("url", text(&b.Args[4], i))
		s.number("embedderInnerWindowID", embedder)
		s.out.Key("isPrivateBrowsing")
		s.out.Bool(integer(&b.Args[3], i) != 0)
		s.out.EndObject()
	}
}

func (p *pages) end(s *Sink) { s.out.EndArray() }
