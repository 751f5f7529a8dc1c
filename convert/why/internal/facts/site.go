package facts

import (
	"cmp"
	"slices"

	"gprof/convert/internal/places"
	"gprof/stream"
)

// Site is a place in a program's own code, with what was added up there.
type Site struct {
	places.Place
	Steps Series
	Sum   float64
	of    *Stacks
}

// Rates is what the site has in a second of each step, and which steps are known.
func (s *Site) Rates() (rates *Series, known *[Steps + 1]bool) { return s.of.Rates(&s.Steps) }

// Around is what the site has in a second before and from a step on.
func (s *Site) Around(at int) (before, after float64) { return s.of.Around(&s.Steps, at) }

// Rise is how much more it has in a second from a step on than before.
func (s *Site) Rise(at int) float64 {
	before, after := s.Around(at)
	return after - before
}

// Sites adds up stacks by their place in a program of a main module: those with most first. Places of the
// recorder are left out. Of waits it matters what they wait for and how, of all else only which code it is.
func (s *Stacks) Sites(t *stream.Tables, module string) (sites []*Site) {
	key := places.Place.Code
	if s.Waits {
		key = places.Place.Waiting
	}
	known := map[places.Place]*Site{}
	for i := range s.Rows {
		row := &s.Rows[i]
		place := places.Of(t, module, row.Stack)
		if place.OfRecorder() {
			continue
		}
		k := key(place)
		site := known[k]
		if site == nil {
			site = &Site{Place: place, of: s}
			known[k] = site
			sites = append(sites, site)
		}
		most := float64(0)
		for step, v := range row.Steps {
			site.Steps[step] += float64(v)
			most += float64(v)
		}
		site.Sum += most
	}
	slices.SortFunc(sites, func(a, b *Site) int {
		return cmp.Or(cmp.Compare(b.Sum, a.Sum), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Via, b.Via), cmp.Compare(a.Caller, b.Caller), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Root, b.Root), cmp.Compare(a.File, b.File))
	})
	return sites
}
