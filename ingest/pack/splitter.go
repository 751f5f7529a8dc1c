package pack

import (
	"bytes"
	"slices"

	"gprof/rawformat"
)

// Slots of columns. Those of kind 0 belong to the file as a whole; others are fields by number,
// then arguments by number and wire type.
const (
	slotWidths = 0 // for all blocks: by how much their length is longer than necessary
	slotSizes  = 1 // of blocks that are stored as they are
	slotBodies = 2 // of these
	slotHead   = 3 // header, page table, trailer
	slotRest   = 4 // bytes outside of blocks
	slotSums   = 5 // for records: 0 the CRC is right, 1 it is stored
	slotCRCs   = 6

	slotArgs = 16  // plus 4 times the argument's number plus its wire type
	slotRank = 80  // of the lane, plus 1; 0: new
	slotNext = 81  // kind of the next block after one of this kind; 0: stored as it is
	slotText = 128 // plus the slot that its lengths belong to
)

// syncTime is the time field of sync blocks. It is stored as the difference to the last time.
const syncTime = 2

// kindPlaced is the kind in slotNext of a sync block whose index and epoch equal its position's. No
// block has it.
const kindPlaced rawformat.Kind = 255

// splitter splits a file into columns.
type splitter struct {
	columns [256]*[256]*column
	used    []*column
	lanes   [256]*lanes
	chain   uint64         // last time
	last    rawformat.Kind // kind of the last block; 0: none, or stored as it is
	place   placement

	fields [16]uint64
	texts  [16][]byte
	pcs    []uint64
	args   []rawformat.Arg
}

// placement is the position of the next block.
type placement struct {
	dict  bool
	index uint64 // of a chunk's block
	epoch uint64
}

// column returns a column, a new one if need be.
func (s *splitter) column(kind rawformat.Kind, slot int) *column {
	set := s.columns[kind]
	if set == nil {
		set = new([256]*column)
		s.columns[kind] = set
	}
	c := set[slot]
	if c == nil {
		c = &column{id: columnID(kind, slot)}
		set[slot] = c
	}
	if len(c.tokens[asTheyAre]) == 0 && len(c.bytes) == 0 {
		s.used = append(s.used, c)
	}
	return c
}

func (s *splitter) reset() {
	for _, c := range s.used {
		c.reset()
	}
	for _, l := range s.lanes {
		if l != nil {
			l.reset()
		}
	}
	s.used, s.chain, s.last = s.used[:0], 0, 0
}

func (s *splitter) group(kind rawformat.Kind) *lanes {
	if s.lanes[kind] == nil {
		s.lanes[kind] = new(lanes)
	}
	return s.lanes[kind]
}

// content appends bytes to a column.
func (s *splitter) content(kind rawformat.Kind, slot int, b []byte) {
	if len(b) > 0 {
		c := s.column(kind, slot)
		c.bytes = append(c.bytes, b...)
	}
}

// chunk splits a chunk file. It is not ok if that is malformed.
func (s *splitter) chunk(raw []byte) (ok bool) {
	h, payload, ok := chunkShape(raw)
	if !ok {
		return false
	}
	s.content(0, slotHead, raw[:rawformat.HeadSize])
	s.content(0, slotHead, raw[len(raw)-rawformat.TrailerSize:])
	committed := payload[:min(h.Commit.Offset(), h.Capacity)]
	at := min(int(h.FirstBlock), len(committed))
	s.content(0, slotRest, payload[:at])
	for {
		s.place = placement{index: h.RangeStart + uint64(at), epoch: h.Epoch}
		n := s.block(committed[at:])
		if n == 0 {
			break
		}
		at += n
	}
	s.content(0, slotRest, payload[at:])
	return true
}

// chunkShape reads the header of a chunk file and checks the size.
func chunkShape(raw []byte) (h rawformat.Header, payload []byte, ok bool) {
	if len(raw) < rawformat.HeadSize+rawformat.TrailerSize {
		return h, nil, false
	}
	h, _, err := rawformat.ReadHeader(raw)
	payload = raw[rawformat.HeadSize : len(raw)-rawformat.TrailerSize]
	return h, payload, err == nil && h.Epoch != 0 && int(h.Capacity) == len(payload)
}

// dict splits a segment of a dictionary from an offset on, and returns where it ends: after enough
// records.
func (s *splitter) dict(raw []byte, h *rawformat.RecordHeader, from int) (to int) {
	s.place = placement{dict: true}
	at := from
	if at == 0 {
		at = rawformat.RecordHeaderSize
		s.content(0, slotHead, raw[:at])
	}
	for at < len(raw) && at-from < segmentSize {
		end := s.record(raw, h, at)
		if end == at { // not a record
			end = at + min(len(raw)-at, segmentSize)
			s.content(0, slotRest, raw[at:end])
			return end
		}
		at = end
	}
	return at
}

// record splits a record and returns its end, at if there is none.
func (s *splitter) record(raw []byte, h *rawformat.RecordHeader, at int) int {
	n, size, err := rawformat.ReadUint(raw[at:])
	if err != nil || n == 0 || n > rawformat.MaxBlock || int(n)+size+4 > len(raw)-at {
		return at
	}
	end := at + s.block(raw[at:])
	if sum := raw[end : end+4]; le.Uint32(sum) == rawformat.PageCRC(h.Instance, uint64(h.Generation), raw[at:end]) {
		s.column(0, slotSums).plain(0)
	} else {
		s.column(0, slotSums).plain(1)
		s.content(0, slotCRCs, sum)
	}
	return end + 4
}

// block splits the block at the front of b and returns its length, 0 if there is none.
func (s *splitter) block(b []byte) int {
	n, size, err := rawformat.ReadUint(b)
	if err != nil || n == 0 || n > rawformat.MaxBlock || n > uint64(len(b)-size) {
		return 0
	}
	body := b[size : size+int(n)]
	s.column(0, slotWidths).plain(uint64(size - rawformat.UintSize(n)))
	if kind := rawformat.Kind(body[0]); s.parse(kind, body) {
		s.put(kind)
	} else {
		s.next(0)
		s.column(0, slotSizes).plain(n)
		s.content(0, slotBodies, body)
	}
	return size + int(n)
}

// parse parses the fields of a block. It is not ok if they would not be written the same again:
// unknown ones, or integers with redundant bytes.
func (s *splitter) parse(kind rawformat.Kind, body []byte) (ok bool) {
	spec := &rawformat.Kinds[kind]
	if spec.Name == "" || (spec.Place == rawformat.InDict) != s.place.dict {
		return false
	}
	c := rawformat.NewCursor(body[1:], 0)
	size := 1
	for i, f := range spec.Fields {
		v := uint64(0)
		switch f.Type {
		case rawformat.Uint, rawformat.Sint, rawformat.Time, rawformat.Coarse:
			v = c.Uint(f.Name)
			size += rawformat.UintSize(v)
			ok = v != largest
		case rawformat.Fixed:
			v, ok = c.Fixed(f.Name), true
			size += 8
		case rawformat.Text:
			s.texts[i], ok = c.Text(f.Name), true
			size += rawformat.UintSize(uint64(len(s.texts[i]))) + len(s.texts[i])
		case rawformat.PCs:
			n := 0
			n, ok = s.parsePCs(&c)
			size += n
		case rawformat.ArgSet:
			n := 0
			n, v, ok = s.parseArgs(&c)
			size += n
		}
		if s.fields[i] = v; !ok {
			return false
		}
	}
	return c.Err() == nil && size == len(body)
}

// parsePCs parses pcs as on the wire: the first, then differences.
func (s *splitter) parsePCs(c *rawformat.Cursor) (size int, ok bool) {
	s.pcs = s.pcs[:0]
	n := c.Uint("pcs")
	if n > rawformat.MaxStack {
		return 0, false
	}
	size = rawformat.UintSize(n)
	for range n {
		v := c.Uint("pcs")
		size += rawformat.UintSize(v)
		s.pcs = append(s.pcs, v)
		if v == largest {
			return 0, false
		}
	}
	return size, true
}

// parseArgs parses arguments, integers as on the wire.
func (s *splitter) parseArgs(c *rawformat.Cursor) (size int, shape uint64, ok bool) {
	s.args = c.Args(s.args[:0], "args")
	if c.Err() != nil {
		return 0, 0, false
	}
	shape = 1
	for i := range slices.Backward(s.args) {
		shape = shape<<2 | uint64(s.args[i].Wire)
	}
	for i := range s.args {
		a := &s.args[i]
		switch a.Wire {
		case rawformat.WireSint:
			a.Num = rawformat.Zigzag(int64(a.Num))
			size += rawformat.UintSize(a.Num)
		case rawformat.WireUint:
			size += rawformat.UintSize(a.Num)
		case rawformat.WireFloat:
			size += 8
		case rawformat.WireText:
			size += rawformat.UintSize(uint64(len(a.Text))) + len(a.Text)
		}
		if a.Wire != rawformat.WireFloat && a.Num == largest {
			return 0, 0, false
		}
	}
	return size + rawformat.UintSize(shape), shape, true
}

// next stores the kind of the block, which depends on the kind before.
func (s *splitter) next(kind rawformat.Kind) {
	s.column(s.last, slotNext).plain(uint64(kind))
	s.last = kind
}

// put adds the parsed block to the columns.
func (s *splitter) put(kind rawformat.Kind) {
	spec := &rawformat.Kinds[kind]
	skip := 0
	if kind == rawformat.KindSync {
		if s.fields[0] == s.place.index && s.fields[1] == s.place.epoch {
			skip = 2
		}
	}
	if skip > 0 {
		s.next(kindPlaced)
	} else {
		s.next(kind)
	}
	l, known := s.lane(kind)
	keys := keysOf[kind]
	for i := skip; i < len(spec.Fields); i++ {
		if known && i >= keys.from && i < keys.from+keys.number {
			continue
		}
		s.field(kind, i, spec.Fields[i].Type, l)
	}
}

// lane finds the lane of the block; known is false if it is new.
func (s *splitter) lane(kind rawformat.Kind) (l *lane, known bool) {
	k := keysOf[kind]
	if k.number == 0 {
		group := s.group(kind)
		if len(group.order) == 0 {
			return group.add([2]uint64{}), false
		}
		return group.order[0], false
	}
	group := s.group(k.group)
	var key [2]uint64
	copy(key[:], s.fields[k.from:k.from+k.number])
	rank := group.find(key)
	s.column(k.group, slotRank).plain(uint64(rank + 1))
	if rank < 0 {
		return group.add(key), false
	}
	return group.use(rank), true
}

// field adds one field.
func (s *splitter) field(kind rawformat.Kind, i int, t rawformat.FieldType, l *lane) {
	v, slot := s.fields[i], slotOf(kind, i)
	if kind == rawformat.KindSync && i == syncTime {
		s.column(kind, i).plain(rawformat.Zigzag(int64(v - s.chain)))
		s.chain = v
		return
	}
	switch t {
	case rawformat.Uint:
		s.column(kind, i).uint(v, l.last[slot])
		l.last[slot] = v
	case rawformat.Sint:
		s.column(kind, i).sint(v, l.last[slot])
		l.last[slot] = v
	case rawformat.Time:
		s.chain += uint64(rawformat.Unzigzag(v))
		s.column(kind, i).time(v, int64(s.chain-l.time))
		l.time = s.chain
	case rawformat.Coarse:
		s.chain += uint64(rawformat.Unzigzag(v)) * rawformat.SampleUnit
		s.column(kind, i).sint(v, l.last[slot])
		l.last[slot] = v
	case rawformat.Fixed:
		s.fixed(kind, i, v)
	case rawformat.Text:
		s.text(kind, i, s.texts[i], &l.text[slot])
	case rawformat.PCs:
		s.column(kind, i).uint(uint64(len(s.pcs)), l.last[slot])
		l.last[slot] = uint64(len(s.pcs))
		for _, pc := range s.pcs {
			s.column(kind, slotArgs).plain(pc)
		}
	case rawformat.ArgSet:
		s.column(kind, i).uint(v, l.last[slot])
		l.last[slot] = v
		for j := range s.args {
			s.arg(kind, j, &s.args[j], l)
		}
	}
}

func (s *splitter) arg(kind rawformat.Kind, j int, a *rawformat.Arg, l *lane) {
	slot, at := slotArgs+4*j+int(a.Wire), argSlot(j)
	switch a.Wire {
	case rawformat.WireSint:
		s.column(kind, slot).sint(a.Num, l.last[at])
		l.last[at] = a.Num
	case rawformat.WireUint:
		s.column(kind, slot).uint(a.Num, l.last[at])
		l.last[at] = a.Num
	case rawformat.WireFloat:
		s.fixed(kind, slot, a.Num)
	case rawformat.WireText:
		s.text(kind, slot, a.Text, &l.text[at])
	}
}

func (s *splitter) fixed(kind rawformat.Kind, slot int, v uint64) {
	c := s.column(kind, slot)
	c.fixed = true
	c.plain(v)
}

// text adds a text: its length plus 1, or 0 if it is the lane's last one.
func (s *splitter) text(kind rawformat.Kind, slot int, text []byte, last *[]byte) {
	if *last != nil && bytes.Equal(text, *last) {
		s.column(kind, slot).plain(0)
		return
	}
	s.column(kind, slot).plain(uint64(len(text)) + 1)
	s.content(kind, slotText+slot, text)
	*last = text
}
