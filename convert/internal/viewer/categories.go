package viewer

import (
	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// maxCategories is the viewer's limit: it keeps their number in a byte.
const maxCategories = 256

// colors are the viewer's.
var colors = map[string]bool{
	"transparent": true, "purple": true, "green": true, "orange": true, "yellow": true, "lightblue": true, "blue": true,
	"brown": true, "magenta": true, "red": true, "lightred": true, "darkgrey": true, "grey": true,
}

// KnowsColor reports whether the viewer knows a color.
func KnowsColor(name string) bool { return colors[name] }

// Categories is the list of categories of a profile, each with its subcategories.
type Categories struct {
	groups []group
	places []Place // by CategoryID
}

// Place is the position of a category: in the list, and among its subcategories, the first of which
// is the category itself.
type Place struct{ Category, Sub int }

// group is an entry of the list: all categories of one name and color.
type group struct {
	stream.Category
	parts []string
}

// CategoriesOf gives each category, and none, its position in the profile's list. Other is the
// first, and stands for what exceeds the list. A subcategory that exceeds its list is the category
// itself.
func CategoriesOf(t *stream.Tables) Categories {
	c := Categories{places: make([]Place, t.Categories.Len()+1)}
	known := make(map[stream.Category]int)
	c.add(known, stream.Other)
	for id := stream.CategoryID(1); int(id) <= t.Categories.Len(); id++ {
		c.places[id] = c.add(known, t.Categories.At(id))
	}
	return c
}

// add returns the position of a category. Those with one name are consecutive.
func (c *Categories) add(known map[stream.Category]int, category stream.Category) Place {
	sub := category.Sub
	category.Sub = ""
	i, ok := known[category]
	if !ok {
		if len(c.groups) == maxCategories {
			return Place{}
		}
		i = len(c.groups)
		known[category] = i
		c.groups = append(c.groups, group{category, []string{stream.Other.Name}})
	}
	g := &c.groups[i]
	if sub == "" || len(g.parts) == maxCategories {
		return Place{i, 0}
	}
	g.parts = append(g.parts, sub)
	return Place{i, len(g.parts) - 1}
}

// Place is the place of a category in the list.
func (c Categories) Place(id stream.CategoryID) Place { return c.places[id] }

// Write writes the list.
func (c Categories) Write(out *jsontext.Writer) {
	out.BeginArray()
	for i := range c.groups {
		c.groups[i].write(out)
	}
	out.EndArray()
}

func (g *group) write(out *jsontext.Writer) {
	if !colors[g.Color] {
		g.Color = stream.Other.Color
	}
	out.BeginObject()
	out.Member("name", g.Name)
	out.Member("color", g.Color)
	out.Array("subcategories")
	for _, name := range g.parts {
		out.String(name)
	}
	out.EndArray()
	out.EndObject()
}
