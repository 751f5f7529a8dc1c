package pack

import (
	"slices"

	"gprof/rawformat"
)

// joiner puts a file together from its columns, the inverse of a splitter.
type joiner struct {
	columns [256]*[256]*storedColumn
	lanes   [256]*lanes
	before  []byte // preceding bytes of the file
	out     []byte // of a fixed capacity
	body    []byte
	chain   uint64
	last    rawformat.Kind
	place   placement
	failed  bool
}

// join writes the raw bytes of columns into dst, which has their length.
func (d *decoder) join(dst, data []byte) error {
	c := rawformat.NewCursor(data, 0)
	at := 0
	for c.Len() > 0 {
		size, n := c.Uint("segment size"), c.Uint("columns size")
		if size > maxSegment || size > uint64(len(dst)-at) || n > uint64(len(data)) {
			return rawformat.ErrTooBig
		}
		columns := c.Bytes(int(n), "columns")
		if c.Err() != nil {
			return c.Err()
		}
		end := at + int(size)
		if err := d.segment(dst[at:end], columns, dst[:at]); err != nil {
			return err
		}
		at = end
	}
	if at != len(dst) {
		return rawformat.ErrTruncated
	}
	return nil
}

// segment writes a segment into dst, which has its length. before are the preceding bytes of the
// file.
func (d *decoder) segment(dst, columns, before []byte) error {
	j := &joiner{out: dst[:0:len(dst)], before: before}
	r := d.reader(columns, arenaSize(len(dst)))
	defer d.readers.Put(r)
	for len(r.rest) > 0 {
		id, c, err := r.read()
		if err != nil {
			return err
		}
		if j.columns[id>>8] == nil {
			j.columns[id>>8] = new([256]*storedColumn)
		}
		j.columns[id>>8][id&0xff] = c
	}
	j.segment()
	if j.failed || len(j.out) != len(dst) {
		return rawformat.ErrSyntax
	}
	return nil
}

// reader returns a reusable columnReader with room for n bytes.
func (d *decoder) reader(columns []byte, room int) *columnReader {
	r, _ := d.readers.Get().(*columnReader)
	if r == nil {
		r = &columnReader{decoder: d}
	}
	r.rest, r.room, r.arena = columns, room, slices.Grow(r.arena[:0], room)
	return r
}

// arenaSize bounds the bytes of planes of a file of that size: most are bytes of the file. A block,
// of two bytes at least, adds a kind, a width and a rank; an integer is a token, which may be
// longer than it.
func arenaSize(size int) int { return 4*size + 64<<10 }

// fail gives up: whatever is read from now on is empty.
func (j *joiner) fail() { j.failed = true }

func (j *joiner) column(kind rawformat.Kind, slot int) *storedColumn {
	if set := j.columns[kind]; set != nil && set[slot] != nil {
		return set[slot]
	}
	return nil
}

// token takes a token of a column.
func (j *joiner) token(kind rawformat.Kind, slot int) (v uint64, t transform) {
	c := j.column(kind, slot)
	if c == nil || c.transform > difference {
		j.fail()
		return 0, asTheyAre
	}
	v = c.next()
	if c.count < 0 {
		j.fail()
	}
	return v, c.transform
}

func (j *joiner) plain(kind rawformat.Kind, slot int) uint64 {
	v, t := j.token(kind, slot)
	if t != asTheyAre {
		j.fail()
	}
	return v
}

// left is how many tokens or bytes a column of no kind still has.
func (j *joiner) left(slot int) int {
	if c := j.column(0, slot); c != nil {
		return c.left()
	}
	return 0
}

// content takes n bytes.
func (j *joiner) content(kind rawformat.Kind, slot int, n uint64) []byte {
	if n == 0 {
		return []byte{}
	}
	c := j.column(kind, slot)
	if c == nil || c.transform != content {
		j.fail()
		return nil
	}
	b := c.take(n)
	if b == nil {
		j.fail()
	}
	return b
}

// write appends to the file.
func (j *joiner) write(b []byte) {
	if len(b) > cap(j.out)-len(j.out) {
		j.fail()
		return
	}
	j.out = append(j.out, b...)
}

// segment writes a chunk, or a part of a dictionary.
func (j *joiner) segment() {
	switch head := j.left(slotHead); {
	case head == rawformat.HeadSize+rawformat.TrailerSize:
		j.chunk()
	case head == rawformat.RecordHeaderSize:
		j.write(j.content(0, slotHead, uint64(head)))
		j.records(j.out)
	case head == 0:
		j.records(j.before)
	default:
		j.fail()
	}
}

func (j *joiner) chunk() {
	j.write(j.content(0, slotHead, rawformat.HeadSize))
	h, _, err := rawformat.ReadHeader(j.out)
	rest := j.left(slotRest)
	if j.failed || err != nil || h.FirstBlock > h.Capacity || int(h.FirstBlock) > rest {
		j.fail()
		return
	}
	j.write(j.content(0, slotRest, uint64(min(h.FirstBlock, h.Commit.Offset()))))
	for j.left(slotWidths) > 0 && !j.failed {
		j.place = placement{index: h.RangeStart + uint64(len(j.out)-rawformat.HeadSize), epoch: h.Epoch}
		j.block()
	}
	j.write(j.content(0, slotRest, uint64(j.left(slotRest))))
	j.write(j.content(0, slotHead, rawformat.TrailerSize))
}

// records writes the records of a dictionary that begins so.
func (j *joiner) records(file []byte) {
	h, err := rawformat.ReadRecordHeader(file)
	if err != nil {
		j.fail()
	}
	j.place = placement{dict: true}
	for j.left(slotWidths) > 0 && !j.failed {
		at := len(j.out)
		j.block()
		if j.plain(0, slotSums) != 0 {
			j.write(j.content(0, slotCRCs, 4))
		} else {
			j.write(le.AppendUint32(nil, rawformat.PageCRC(h.Instance, uint64(h.Generation), j.out[at:])))
		}
	}
	j.write(j.content(0, slotRest, uint64(j.left(slotRest))))
}

// block writes one block; its body is made first, because its length precedes it.
func (j *joiner) block() {
	width := j.plain(0, slotWidths)
	kind := rawformat.Kind(j.plain(j.last, slotNext))
	j.last = kind
	j.body = j.body[:0]
	if kind == 0 {
		j.body = append(j.body, j.content(0, slotBodies, j.plain(0, slotSizes))...)
	} else {
		j.fields(kind)
	}
	n := len(j.body)
	if size := rawformat.UintSize(uint64(n)); width > 9 || n == 0 || size+int(width)+n > cap(j.out)-len(j.out) {
		j.fail()
		return
	}
	j.out = appendLong(j.out, uint64(n), int(width))
	j.out = append(j.out, j.body...)
}

// appendLong appends a U with redundant bytes.
func appendLong(dst []byte, v uint64, longer int) []byte {
	for ; v >= 0x80; v >>= 7 {
		dst = append(dst, byte(v)|0x80)
	}
	if longer == 0 {
		return append(dst, byte(v))
	}
	dst = append(dst, byte(v)|0x80)
	for range longer - 1 {
		dst = append(dst, 0x80)
	}
	return append(dst, 0)
}

// fields appends kind and fields to the body.
func (j *joiner) fields(kind rawformat.Kind) {
	skip := 0
	if kind == kindPlaced {
		kind, skip = rawformat.KindSync, 2
	}
	j.body = append(j.body, byte(kind))
	if skip > 0 {
		j.body = rawformat.AppendUint(rawformat.AppendUint(j.body, j.place.index), j.place.epoch)
	}
	l, known := j.lane(kind)
	keys, fields := keysOf[kind], rawformat.Kinds[kind].Fields
	if !known {
		l.key = [2]uint64{}
	}
	for i := skip; i < len(fields) && !j.failed; i++ {
		if isKey := i >= keys.from && i < keys.from+keys.number; isKey && known {
			j.body = rawformat.AppendUint(j.body, l.key[i-keys.from])
		} else if v := j.field(kind, i, fields[i].Type, l); isKey {
			l.key[i-keys.from] = v
		}
	}
}

// lane takes the lane of the block; a new one learns its key from the fields.
func (j *joiner) lane(kind rawformat.Kind) (l *lane, known bool) {
	k := keysOf[kind]
	g := kind
	if k.number > 0 {
		g = k.group
	}
	if j.lanes[g] == nil {
		j.lanes[g] = new(lanes)
	}
	group := j.lanes[g]
	if k.number == 0 {
		if len(group.order) == 0 {
			return group.add([2]uint64{}), false
		}
		return group.order[0], false
	}
	rank := j.plain(g, slotRank)
	switch {
	case rank > uint64(len(group.order)):
		j.fail()
		return new(lane), false
	case rank == 0:
		return group.add([2]uint64{}), false
	}
	return group.use(int(rank) - 1), true
}

// uint takes a value of a column; prev is the lane's last one.
func (j *joiner) uint(kind rawformat.Kind, slot int, prev *uint64) uint64 {
	v, t := j.token(kind, slot)
	switch {
	case t == difference:
		v = *prev + uint64(rawformat.Unzigzag(v))
	case t == orSame && v == 0:
		v = *prev
	case t == orSame:
		v--
	}
	*prev = v
	return v
}

// sint is uint for zigzag values.
func (j *joiner) sint(kind rawformat.Kind, slot int, prev *uint64) uint64 {
	v, t := j.token(kind, slot)
	switch {
	case t == difference:
		v = rawformat.Zigzag(rawformat.Unzigzag(*prev) + rawformat.Unzigzag(v))
	case t == orSame && v == 0:
		v = *prev
	case t == orSame:
		v--
	}
	*prev = v
	return v
}

// field appends one field and returns its number.
func (j *joiner) field(kind rawformat.Kind, i int, t rawformat.FieldType, l *lane) (v uint64) {
	slot := slotOf(kind, i)
	if kind == rawformat.KindSync && i == syncTime {
		j.chain += uint64(rawformat.Unzigzag(j.plain(kind, i)))
		j.body = rawformat.AppendUint(j.body, j.chain)
		return j.chain
	}
	switch t {
	case rawformat.Uint:
		v = j.uint(kind, i, &l.last[slot])
		j.body = rawformat.AppendUint(j.body, v)
	case rawformat.Sint:
		j.body = rawformat.AppendUint(j.body, j.sint(kind, i, &l.last[slot]))
	case rawformat.Time:
		j.time(kind, i, l)
	case rawformat.Coarse:
		v := j.sint(kind, i, &l.last[slot])
		j.body = rawformat.AppendUint(j.body, v)
		j.chain += uint64(rawformat.Unzigzag(v)) * rawformat.SampleUnit
	case rawformat.Fixed:
		j.fixed(kind, i)
	case rawformat.Text:
		j.text(kind, i, &l.text[slot])
	case rawformat.PCs:
		n := j.uint(kind, i, &l.last[slot])
		if n > rawformat.MaxStack {
			j.fail()
			return 0
		}
		j.body = rawformat.AppendUint(j.body, n)
		for range n {
			j.body = rawformat.AppendUint(j.body, j.plain(kind, slotArgs))
		}
	case rawformat.ArgSet:
		shape := j.uint(kind, i, &l.last[slot])
		j.body = rawformat.AppendUint(j.body, shape)
		j.arguments(kind, shape, l)
	}
	return v
}

func (j *joiner) time(kind rawformat.Kind, i int, l *lane) {
	v, t := j.token(kind, i)
	if t == orSame {
		j.fail()
	}
	now := j.chain + uint64(rawformat.Unzigzag(v))
	if t == difference {
		now = l.time + uint64(rawformat.Unzigzag(v))
	}
	j.body = rawformat.AppendSint(j.body, int64(now-j.chain))
	j.chain, l.time = now, now
}

func (j *joiner) arguments(kind rawformat.Kind, shape uint64, l *lane) {
	if shape == 0 || shape>>(2*rawformat.MaxArgs+1) != 0 {
		j.fail()
		return
	}
	for i := 0; shape > 1 && !j.failed; i++ {
		wire := rawformat.WireType(shape & 3)
		slot, at := slotArgs+4*i+int(wire), argSlot(i)
		switch wire {
		case rawformat.WireSint:
			j.body = rawformat.AppendUint(j.body, j.sint(kind, slot, &l.last[at]))
		case rawformat.WireUint:
			j.body = rawformat.AppendUint(j.body, j.uint(kind, slot, &l.last[at]))
		case rawformat.WireFloat:
			j.fixed(kind, slot)
		case rawformat.WireText:
			j.text(kind, slot, &l.text[at])
		}
		shape >>= 2
	}
}

func (j *joiner) fixed(kind rawformat.Kind, slot int) {
	c := j.column(kind, slot)
	if c == nil || c.transform != fixed || c.count == 0 {
		j.fail()
		return
	}
	j.body = rawformat.AppendFixed(j.body, c.nextFixed())
}

func (j *joiner) text(kind rawformat.Kind, slot int, last *[]byte) {
	n := j.plain(kind, slot)
	switch {
	case n > 0:
		*last = j.content(kind, slotText+slot, n-1)
	case *last == nil:
		j.fail()
	}
	if j.failed {
		return
	}
	j.body = rawformat.AppendText(j.body, *last)
}
