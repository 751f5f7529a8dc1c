package stream

import "encoding/binary"

// key is the content of e as a string, for interning: two events have the
// same key only if they are equal.
func (e *Event) key() string {
	k := make([]byte, 0, 128)
	k = appendTexts(k, e.Name, e.Chart, e.Tooltip, e.Table)
	k = appendNumbers(k, uint64(uint32(e.Category)), uint64(e.Display), uint64(len(e.Fields)))
	for i := range e.Fields {
		k = e.Fields[i].appendKey(k)
	}
	k = appendTexts(k, e.Type, e.Description, e.ColorField, e.NameField)
	k = append(k, bit(e.Bare)|bit(e.Nested)<<1)
	for _, g := range e.Graphs {
		k = appendTexts(k, g.Field, g.Shape, g.Color)
	}
	return string(k)
}

func (f *EventField) appendKey(k []byte) []byte {
	k = appendTexts(k, f.Name, f.Label, f.Shown)
	return append(k, byte(f.Type), byte(f.Format), byte(f.Privacy), bit(f.Searchable)|bit(f.Hidden)<<1|bit(f.Unlisted)<<2)
}

// appendTexts adds texts with their lengths before them, so that no text can
// be taken for the end of one and the beginning of the next.
func appendTexts(k []byte, texts ...string) []byte {
	for _, s := range texts {
		k = binary.AppendUvarint(k, uint64(len(s)))
		k = append(k, s...)
	}
	return k
}

func appendNumbers(k []byte, numbers ...uint64) []byte {
	for _, n := range numbers {
		k = binary.AppendUvarint(k, n)
	}
	return k
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
