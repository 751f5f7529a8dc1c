package stream

// Column holds one argument of each row. Values normally have the [Type] of the field;
// one of another type says so itself.
type Column struct {
	num  []uint64 // the bits of a number; of a text its end in data and its length; of Null 0
	kind []Type   // of each row
	data []byte   // texts, one after the other
}

// Type is how an argument is stored.
type Type uint8

const (
	Null Type = iota
	Int
	Uint
	Float
	Text
	JSON // any other value, such as a list, as JSON: may be taken for a text
)

// Textual reports whether values of the type are bytes: those of [Column.TextAt].
func (t Type) Textual() bool { return t >= Text }

// Reset empties c, keeping its memory.
func (c *Column) Reset() { c.num, c.kind, c.data = c.num[:0], c.kind[:0], c.data[:0] }

// Len is the number of rows.
func (c *Column) Len() int { return len(c.kind) }

// AppendNull, AppendBits and AppendText add a row. Bits are those of an int64, uint64 or
// float64, by the type; AppendTextual adds Text or JSON.
func (c *Column) AppendNull() {
	c.kind, c.num = append(c.kind, Null), append(c.num, 0)
}

func (c *Column) AppendBits(t Type, bits uint64) {
	c.kind, c.num = append(c.kind, t), append(c.num, bits)
}

func (c *Column) AppendText(s []byte) { c.AppendTextual(Text, s) }

func (c *Column) AppendTextual(t Type, s []byte) {
	c.data = append(c.data, s...)
	// The length is stored beside the end, and gives the start.
	c.kind, c.num = append(c.kind, t), append(c.num, uint64(len(c.data))|uint64(len(s))<<32)
}

// TypeAt is the type of row i.
func (c *Column) TypeAt(i int) Type { return c.kind[i] }

// BitsAt is the number of row i.
func (c *Column) BitsAt(i int) uint64 { return c.num[i] }

// TextAt is the text of row i, or its JSON; it points into the column.
func (c *Column) TextAt(i int) []byte {
	end, n := c.num[i]&(1<<32-1), c.num[i]>>32
	return c.data[end-n : end]
}

func (c *Column) appendRows(src *Column, from, to int) {
	first := len(c.num)
	c.kind = append(c.kind, src.kind[from:to]...)
	c.num = append(c.num, src.num[from:to]...)
	for i, kind := range c.kind[first:] {
		if kind.Textual() {
			text := src.TextAt(from + i)
			c.data = append(c.data, text...)
			c.num[first+i] = uint64(len(c.data)) | uint64(len(text))<<32
		}
	}
}
