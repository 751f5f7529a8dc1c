package stream

import "fmt"

// key is the content of e as a string, for interning.
func (e *Event) key() string {
	return fmt.Sprintf("%q %d %d %q %q %q %+q", e.Name, e.Category, e.Display, e.Chart, e.Tooltip, e.Table, fmt.Sprint(e.Fields))
}
