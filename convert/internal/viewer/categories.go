package viewer

import (
	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// maxCategories is how many the viewer takes: it keeps their number in a byte.
const maxCategories = 256

// colors are those that the viewer knows.
var colors = map[string]bool{
	"transparent": true, "purple": true, "green": true, "orange": true, "yellow": true, "lightblue": true, "blue": true,
	"brown": true, "magenta": true, "red": true, "lightred": true, "darkgrey": true, "grey": true,
}

// KnowsColor reports whether the viewer knows a colour.
func KnowsColor(name string) bool { return colors[name] }

// Categories is the list of categories of a profile.
type Categories struct {
	tables *stream.Tables
	places []int // by CategoryID
}

// CategoriesOf gives each category, and none, its place in the list of the
// profile. Other is the first place; it is also that of what is beyond the
// last.
func CategoriesOf(t *stream.Tables) Categories {
	places := make([]int, t.Categories.Len()+1)
	n := 1
	for id := stream.CategoryID(1); int(id) <= t.Categories.Len() && n < maxCategories; id++ {
		if t.Categories.At(id) != stream.Other {
			places[id] = n
			n++
		}
	}
	return Categories{t, places}
}

// Place is the place of a category in the list.
func (c Categories) Place(id stream.CategoryID) int { return c.places[id] }

// Write writes the list.
func (c Categories) Write(out *jsontext.Writer) {
	out.BeginArray()
	writeCategory(out, stream.Other)
	for id, place := range c.places {
		if place != 0 {
			writeCategory(out, c.tables.Categories.At(stream.CategoryID(id)))
		}
	}
	out.EndArray()
}

func writeCategory(out *jsontext.Writer, c stream.Category) {
	if !colors[c.Color] {
		c.Color = stream.Other.Color
	}
	out.BeginObject()
	member(out, "name", c.Name)
	member(out, "color", c.Color)
	out.Key("subcategories")
	out.Raw(`["Other"]`)
	out.EndObject()
}
