package decode

import (
	"testing"

	"gprof/rawformat"
)

// The first recordings told of no event which type it is.
func TestShowWithoutType(t *testing.T) {
	var d dictionary
	d.events.put(1, new(event))
	body := rawformat.AppendText([]byte{1, byte(rawformat.EventNested)}, "once")
	c := rawformat.NewCursor(body, 0)
	if d.defShow(&c); c.Err() != nil {
		t.Fatal(c.Err())
	}
	if e := d.events.get(1).def; !e.Nested || e.Description != "once" || e.Type != "" {
		t.Errorf("%+v", e)
	}
	c = rawformat.NewCursor(rawformat.AppendText(body, "Text"), 0)
	if d.defShow(&c); c.Err() != nil || d.events.get(1).def.Type != "Text" {
		t.Errorf("%+v, %v: want the type Text", d.events.get(1).def, c.Err())
	}
}
