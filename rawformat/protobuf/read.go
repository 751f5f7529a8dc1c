package protobuf

import "encoding/binary"

// Field is a field of a message.
type Field struct {
	Number int
	Wire   int
	Value  uint64 // of a number
	Bytes  []byte // of a message or string, within what was read
}

// Set takes the beginning of a field; a number that is too large is above that of all fields.
func (v *Field) Set(tag, value uint64) {
	v.Number, v.Wire, v.Value, v.Bytes = int(min(tag>>3, 1<<29)), int(tag&7), value, nil
}

// ParseHeader parses a field up to its bytes, whose number is its value. n is its length; 0 if it
// is cut short, below 0 if it is malformed. Most fields have a tag of one byte, for a number or
// bytes, and a value of one or two, which take the fast path.
func ParseHeader(data []byte) (tag, value uint64, n int) {
	if len(data) < 3 || data[0]&(0x80|5) != 0 || data[0] < 8 {
		return parseLongHeader(data)
	}
	if data[1] < 0x80 {
		return uint64(data[0]), uint64(data[1]), 2
	}
	if data[2] < 0x80 {
		return uint64(data[0]), uint64(data[1])&0x7f | uint64(data[2])<<7, 3
	}
	return parseLongHeader(data)
}

func parseLongHeader(data []byte) (tag, value uint64, n int) {
	tag, n = binary.Uvarint(data)
	if n <= 0 {
		return 0, 0, n
	}
	if tag>>3 == 0 {
		return 0, 0, -1
	}
	rest := data[n:]
	switch tag & 7 {
	case Varint, Bytes:
		value, k := binary.Uvarint(rest)
		if k <= 0 {
			return 0, 0, k
		}
		return tag, value, n + k
	case Fixed64:
		if len(rest) >= 8 {
			return tag, binary.LittleEndian.Uint64(rest), n + 8
		}
		return 0, 0, 0
	case Fixed32:
		if len(rest) >= 4 {
			return tag, uint64(binary.LittleEndian.Uint32(rest)), n + 4
		}
		return 0, 0, 0
	}
	return 0, 0, -1
}

// Message reads the fields of a message in memory.
type Message struct {
	Rest  []byte
	Bad   bool  // it is damaged; what comes before is intact
	field Field // that was read last
}

// Read reads a field, which is valid until the next call. It is not ok at the end of what is
// intact.
func (m *Message) Read() (v *Field, ok bool) {
	if len(m.Rest) == 0 {
		return nil, false
	}
	tag, value, n := ParseHeader(m.Rest)
	long := tag&7 == Bytes
	if n <= 0 || long && value > uint64(len(m.Rest)-n) {
		m.Bad, m.Rest = true, nil
		return nil, false
	}
	m.field.Set(tag, value)
	m.Rest = m.Rest[n:]
	if long {
		m.field.Bytes, m.Rest = m.Rest[:value], m.Rest[value:]
	}
	return &m.field, true
}

// Numbers are the numeric fields of a message.
type Numbers [16]uint64

// Read parses a message. It is not ok if that is damaged; what comes before is intact.
func (n *Numbers) Read(body []byte) (ok bool) {
	m := Message{Rest: n.Take(body)}
	for v, more := m.Read(); more; v, more = m.Read() {
		n.Set(v)
	}
	return !m.Bad
}

// Take takes the fields that a message begins with, as far as they are numbers of up to four bytes, as most are. It returns
// the rest.
func (n *Numbers) Take(body []byte) (rest []byte) {
	for len(body) >= 5 && body[0]&(0x80|7) == Varint && body[0] >= 8 {
		field, value := body[0]>>3, uint64(body[1])
		switch {
		case body[1] < 0x80:
			body = body[2:]
		case body[2] < 0x80:
			value, body = value&0x7f|uint64(body[2])<<7, body[3:]
		case body[3] < 0x80:
			value, body = value&0x7f|uint64(body[2]&0x7f)<<7|uint64(body[3])<<14, body[4:]
		case body[4] < 0x80:
			value, body = value&0x7f|uint64(body[2]&0x7f)<<7|uint64(body[3]&0x7f)<<14|uint64(body[4])<<21, body[5:]
		default:
			return body
		}
		n[field] = value
	}
	for len(body) >= 2 && body[0]&(0x80|7) == Varint && body[0] >= 8 && body[1] < 0x80 {
		n[body[0]>>3], body = uint64(body[1]), body[2:]
	}
	return body
}

// Set takes a field, if it is a number.
func (n *Numbers) Set(v *Field) {
	if v.Number < len(n) && v.Wire == Varint {
		n[v.Number] = v.Value
	}
}

// Numbers appends the numbers of a repeated field, packed or not, up to most. It is not ok if there
// are more, or some are damaged.
func (v *Field) Numbers(dst []uint64, most int) (out []uint64, ok bool) {
	if v.Wire == Varint && len(dst) < most {
		return append(dst, v.Value), true
	}
	for rest := v.Bytes; len(rest) > 0; {
		n, k := uint64(rest[0]), 1
		if n >= 0x80 {
			n, k = binary.Uvarint(rest)
		}
		if k <= 0 || len(dst) >= most {
			return dst, false
		}
		dst, rest = append(dst, n), rest[k:]
	}
	return dst, v.Wire == Bytes
}

// Fixed64s appends the numbers of a repeated field of 8 bytes each, packed or not. It is not ok if some
// are damaged.
func (v *Field) Fixed64s(dst []uint64) (out []uint64, ok bool) {
	if v.Wire == Fixed64 {
		return append(dst, v.Value), true
	}
	for rest := v.Bytes; len(rest) >= 8; rest = rest[8:] {
		dst = append(dst, binary.LittleEndian.Uint64(rest))
	}
	return dst, v.Wire == Bytes && len(v.Bytes)%8 == 0
}
