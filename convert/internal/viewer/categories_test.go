package viewer

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// A category and its parts are one entry of the list, whose first part is the
// category itself. Other is first, whether something is of it or not.
func TestCategories(t *testing.T) {
	tables := new(stream.Tables)
	list := []stream.Category{
		{Name: "Network", Color: "blue", Sub: "DNS"}, {Name: "Network", Color: "red"}, {Name: "Network", Color: "blue"},
		{Name: "Network", Color: "blue", Sub: "TLS"}, {Name: "Other", Color: "grey", Sub: "Idle"}, {Name: "Odd", Color: "beige"},
	}
	for _, c := range list {
		tables.Categories.Intern(c)
	}
	c := CategoriesOf(tables)
	var places []Place
	for id := range list {
		places = append(places, c.Place(stream.CategoryID(id+1)))
	}
	if diff := cmp.Diff([]Place{{1, 1}, {2, 0}, {1, 0}, {1, 2}, {0, 1}, {3, 0}}, places); diff != "" || c.Place(0) != (Place{}) {
		t.Error(diff, c.Place(0))
	}
	var text strings.Builder
	out := jsontext.NewWriter(&text)
	if c.Write(out); out.Flush() != nil {
		t.Fatal(out.Err())
	}
	want := `[{"name":"Other","color":"grey","subcategories":["Other","Idle"]},{"name":"Network","color":"blue","subcategories":["Other","DNS","TLS"]},` +
		`{"name":"Network","color":"red","subcategories":["Other"]},{"name":"Odd","color":"grey","subcategories":["Other"]}]`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Error(diff)
	}
}

// The viewer keeps numbers of categories in a byte. Categories beyond that are
// Other, and subcategories beyond it are the category itself.
func TestManyCategories(t *testing.T) {
	tables := new(stream.Tables)
	for i := range 300 {
		tables.Categories.Intern(stream.Category{Name: "a", Sub: fmt.Sprint(i + 1)})
	}
	for i := range 300 {
		tables.Categories.Intern(stream.Category{Name: fmt.Sprint(i)})
	}
	c := CategoriesOf(tables)
	for id, want := range map[stream.CategoryID]Place{255: {1, 255}, 256: {1, 0}, 301: {2, 0}, 554: {255, 0}, 555: {}, 600: {}} {
		if got := c.Place(id); got != want {
			t.Errorf("category %d stands at %v, want %v", id, got, want)
		}
	}
	c.Write(jsontext.NewWriter(io.Discard))
}
