package gecko

import "gprof/stream"

// maxCategories is how many the viewer takes: it keeps their number in a byte.
const maxCategories = 256

// colors are those that the viewer knows.
var colors = map[string]bool{
	"transparent": true, "purple": true, "green": true, "orange": true, "yellow": true, "lightblue": true, "blue": true,
	"brown": true, "magenta": true, "red": true, "lightred": true, "darkgrey": true, "grey": true,
}

// categoriesOf gives each category, and none, its place in the list of the
// profile. Other is the first place; it is also that of what is beyond the
// last.
func categoriesOf(t *stream.Tables) []int {
	places := make([]int, t.Categories.Len()+1)
	n := 1
	for id := stream.CategoryID(1); int(id) <= t.Categories.Len() && n < maxCategories; id++ {
		if t.Categories.At(id) != stream.Other {
			places[id] = n
			n++
		}
	}
	return places
}

func (s *Sink) writeCategories() {
	s.out.Key("categories")
	s.out.BeginArray()
	s.writeCategory(stream.Other)
	for id, place := range s.categories {
		if place != 0 {
			s.writeCategory(s.tables.Categories.At(stream.CategoryID(id)))
		}
	}
	s.out.EndArray()
}

func (s *Sink) writeCategory(c stream.Category) {
	if !colors[c.Color] {
		c.Color = stream.Other.Color
	}
	s.out.BeginObject()
	s.member("name", c.Name)
	s.member("color", c.Color)
	s.out.Key("subcategories")
	s.out.Raw(`["Other"]`)
	s.out.EndObject()
}
