package chunks

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gprof/rawformat"
)

// ParseFile returns the bytes of a text twin. The error names the line and is of class
// [rawformat.ErrSyntax], [rawformat.ErrKind] or [rawformat.ErrTooBig].
func ParseFile(text string) ([]byte, error) {
	p := parser{add: (*parser).addRaw, limit: rawformat.MaxRecordFile}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if p.chunk != nil {
		return p.chunk.file(p.out)
	}
	return p.out, nil
}

// parser builds the bytes of one file, line by line.
type parser struct {
	out   []byte // the file, or a chunk's payload
	limit int    // of out
	begun bool

	add    func(p *parser, block []byte) error
	record rawformat.RecordHeader
	sumAt  int // offset of the checksum of the last record; 0: none
	chunk  *chunkText
}

// chunkText is what the lines of a chunk say besides its payload.
type chunkText struct {
	layout
	blocks    uint32
	hasCommit bool
	committed int // bytes, -1 all
	sums      map[int]uint32
	sealed    int
	odd       map[int]rawformat.PageEntry
	trailer   [2]uint64 // instance and epoch
	behind    int       // where the trailer is in the bytes; -1: after the capacity
	cut       bool
}

func (p *parser) line(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	first := !p.begun
	p.begun = true
	switch word {
	case rawformat.MagicChunk, rawformat.MagicDict, rawformat.MagicMeta, rawformat.MagicExit:
		if !first {
			return syntaxError("second header")
		}
		if word == rawformat.MagicChunk {
			return p.chunkHeader(rest)
		}
		return p.recordHeader(word, rest)
	case wordBytes:
		b, err := hex.DecodeString(rest)
		if err != nil {
			return syntaxError("bytes")
		}
		return p.append(b)
	case wordZero:
		n, err := number(rest, maxZero)
		if err != nil {
			return err
		}
		return p.append(make([]byte, n))
	case wordCRC:
		return p.setSum(rest)
	case wordWide:
		width, body, _ := strings.Cut(rest, " ")
		n, err := number(width, maxWidth)
		if err != nil {
			return err
		}
		return p.block(body, int(n))
	}
	if known, err := p.chunkLine(word, rest); known {
		return err
	}
	return p.block(line, 0)
}

// maxWidth is the most bytes that a length can take.
const maxWidth = 10

// block adds the block of a line, with a length of at least so many bytes.
func (p *parser) block(line string, width int) error {
	body, err := rawformat.ParseBlock(nil, line)
	if err != nil {
		return err
	}
	length := rawformat.AppendUint(nil, uint64(len(body)))
	for len(length) < width {
		length[len(length)-1] |= 0x80
		length = append(length, 0)
	}
	return p.add(p, append(length, body...))
}

// number reads a number from 0 to limit.
func number(s string, limit uint64) (uint64, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(s), 0, 64)
	if err != nil || n > limit {
		return 0, syntaxError("number " + strconv.Quote(s))
	}
	return n, nil
}

func (p *parser) append(b []byte) error {
	if len(b) > p.limit-len(p.out) {
		return &rawformat.Error{Off: int64(len(p.out)), What: "file", Err: rawformat.ErrTooBig}
	}
	p.out, p.sumAt = append(p.out, b...), 0
	return nil
}

// words sets the fields that a line names; words with unknown names go to other.
func words(line string, table []headWord, other func(name, value string) error) error {
	for word := range strings.FieldsSeq(line) {
		name, value, _ := strings.Cut(word, "=")
		set := func(value string) error { return other(name, value) }
		if i := slices.IndexFunc(table, func(w headWord) bool { return w.name == name }); i >= 0 {
			set = table[i].set
		}
		if err := set(value); err != nil {
			return err
		}
	}
	return nil
}

func noOther(name, _ string) error { return syntaxError("word " + strconv.Quote(name)) }

// A record file.

func (p *parser) recordHeader(magic, line string) error {
	p.record.Magic = magic
	var sum *uint32
	err := words(line, recordWords(&p.record), func(name, value string) error {
		if name != wordCRC {
			return noOther(name, value)
		}
		v, err := number(value, 1<<32-1)
		s := uint32(v)
		sum = &s
		return err
	})
	p.out = rawformat.AppendRecordHeader(p.out, &p.record)
	if sum != nil {
		binary.LittleEndian.PutUint32(p.out[rawformat.OffRecordCRC:], *sum)
	}
	p.add = (*parser).addRecord
	return err
}

func (p *parser) addRecord(block []byte) error {
	crc := rawformat.PageCRC(p.record.Instance, uint64(p.record.Generation), block)
	err := p.append(binary.LittleEndian.AppendUint32(block, crc))
	p.sumAt = len(p.out) - 4
	return err
}

func (p *parser) setSum(value string) error {
	sum, err := number(value, 1<<32-1)
	if err != nil || p.sumAt == 0 {
		return syntaxError("checksum, want one behind a record")
	}
	binary.LittleEndian.PutUint32(p.out[p.sumAt:], uint32(sum))
	return nil
}

func (p *parser) addRaw(block []byte) error { return p.append(block) }

// A chunk.

func (p *parser) chunkHeader(line string) error {
	c := &chunkText{committed: -1, behind: -1, sums: map[int]uint32{}, odd: map[int]rawformat.PageEntry{}}
	c.header.Capacity = rawformat.ChunkAlign - rawformat.HeadSize - rawformat.TrailerSize
	c.firsts = map[int]uint32{}
	p.chunk, p.add, p.limit = c, (*parser).addBlock, maxPayload+rawformat.TrailerSize
	c.hasCommit = strings.Contains(line, "commit=")
	offs := map[string]int{"crc": rawformat.OffFixedCRC, "close-crc": rawformat.OffCloseCRC}
	err := words(line, chunkWords(&c.header), func(name, value string) error {
		off, ok := offs[name]
		if !ok {
			return noOther(name, value)
		}
		sum, err := number(value, 1<<32-1)
		c.sums[off] = uint32(sum)
		return err
	})
	if err == nil && c.header.Capacity > maxPayload {
		err = &rawformat.Error{What: "capacity", Err: rawformat.ErrTooBig}
	}
	return err
}

func (p *parser) addBlock(block []byte) error {
	c, at := p.chunk, len(p.out)
	if c.committed < 0 && c.behind < 0 {
		c.note(uint32(at))
		c.blocks++
	}
	return p.append(block)
}

// chunkLine reads the lines that only a chunk has.
func (p *parser) chunkLine(word, rest string) (known bool, err error) {
	c := p.chunk
	if c == nil {
		return false, nil
	}
	switch word {
	case wordOpen:
		err = words(rest, anchorWords(&c.header.Open), noOther)
	case wordClose:
		err = words(rest, anchorWords(&c.header.Close), noOther)
	case wordSealed:
		var n uint64
		n, err = number(rest, tablePages)
		c.sealed = int(n)
	case wordEntry:
		err = c.setEntry(rest)
	case wordUncommitted:
		c.committed = len(p.out)
	case wordTrailer:
		err = p.setTrailer(rest)
	case wordCut:
		c.cut = true
	default:
		return false, nil
	}
	return true, err
}

func (c *chunkText) setEntry(line string) error {
	page, entry, _ := strings.Cut(line, " ")
	n, err := number(page, tablePages-1)
	if err != nil {
		return err
	}
	e, err := number(entry, 1<<64-1)
	c.odd[int(n)] = rawformat.PageEntry(e)
	return err
}

// setTrailer pads the payload to the capacity. Bytes that follow are after the trailer.
func (p *parser) setTrailer(line string) error {
	c := p.chunk
	pad := int(c.header.Capacity) - len(p.out)
	if pad < 0 || c.behind >= 0 {
		return syntaxError("trailer, the payload is longer than the capacity")
	}
	if c.committed < 0 {
		c.committed = len(p.out)
	}
	if err := p.append(make([]byte, pad)); err != nil {
		return err
	}
	p.limit = rawformat.MaxRecordFile
	c.behind = len(p.out)
	return words(line, trailerWords(&c.trailer[0], &c.trailer[1]), noOther)
}

// file assembles the parts; b is the payload and what follows the trailer.
func (c *chunkText) file(b []byte) ([]byte, error) {
	given := c.behind >= 0
	if !given {
		c.behind = len(b)
		c.trailer = [2]uint64{c.header.Instance, c.header.Epoch}
	}
	if c.committed < 0 {
		c.committed = c.behind
	}
	if !c.hasCommit {
		c.header.Commit = rawformat.MakeCommit(uint32(c.committed), c.blocks)
	}
	c.payload = b[:c.behind]
	more := b[c.behind:]
	if pad := int(c.header.Capacity) - c.behind; !c.cut && pad < 0 {
		return nil, &rawformat.Error{Off: int64(c.behind), What: "payload", Err: rawformat.ErrTooBig}
	} else if !c.cut {
		c.payload = append(slices.Clip(c.payload), make([]byte, pad)...)
	}
	file := c.head(c.sealed, c.odd)
	for off, sum := range c.sums {
		binary.LittleEndian.PutUint32(file[off:], sum)
	}
	file = append(file, c.payload...)
	if given || !c.cut {
		file = append(file, make([]byte, rawformat.TrailerSize)...)
		rawformat.PutTrailer(file[len(file)-rawformat.TrailerSize:], c.trailer[0], c.trailer[1])
	}
	return append(file, more...), nil
}
