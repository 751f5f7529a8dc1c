package tables

import (
	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// who writes whose the rows of b are.
func (s *Sink) who(row *rows, b *stream.Batch) {
	sparse(row.column(), b.Thread, b.Len())
	sparse(row.column(), b.Goroutine, b.Len())
	texts := row.column()
	if len(b.Labels) == 0 {
		texts.null()
		texts.one(b.Len())
	}
	for _, id := range b.Labels {
		if id == 0 {
			texts.null()
		} else {
			texts.text(s.labelText(id))
		}
	}
}

// sparse writes n numbers of which 0 is unknown, and none are there if all are.
func sparse(c *Values, numbers []int64, n int) {
	if len(numbers) == 0 {
		c.null()
		c.one(n)
	}
	for _, v := range numbers {
		c.known(v, 0)
	}
}

// labelText is a set of labels as a JSON object.
func (s *Sink) labelText(id stream.LabelsID) []byte {
	if s.labels == nil {
		s.labels = make([][]byte, s.tables.Labels.Len()+1)
	}
	if s.labels[id] == nil {
		object := []byte{'{'}
		for key, value := range s.tables.Labels.At(id).All() {
			if len(object) > 1 {
				object = append(object, ',')
			}
			object = append(jsontext.AppendString(object, s.bytes("", []byte(key))), ':')
			object = jsontext.AppendString(object, s.bytes("", []byte(value)))
		}
		s.labels[id] = append(object, '}')
	}
	return s.labels[id]
}
