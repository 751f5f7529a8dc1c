package perf

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"gprof/ingest/internal/damage"
)

const (
	magic        = "PERFILE2"
	magicOld     = "PERFFILE" // until 2012
	magicSwapped = "2ELIFREP"
	headerSize   = 104
	pipeSize     = 16

	maxFront    = 64 << 20 // bytes before the data: attrs, and the ids of each processor's
	maxFeatures = 64 << 20 // bytes behind it
	maxAttrs    = 4096
	maxText     = 64 << 10 // bytes of a command, and of an event's name
)

// section is a part of a file.
type section struct{ at, size uint64 }

func (c *cursor) section() section { return section{c.u64(), c.u64()} }

// of returns the section within bytes that begin at a file offset.
func (s section) of(b []byte, at uint64) ([]byte, bool) {
	if s.at < at || s.at-at > uint64(len(b)) || s.size > uint64(len(b))-(s.at-at) {
		return nil, false
	}
	return b[s.at-at:][:s.size], true
}

// layout is where things are in a file.
type layout struct {
	pipe     bool
	data     section
	features []int // numbers of those present
}

// Sniff reports whether head begins a perf.data.
func Sniff(head []byte) bool {
	for _, m := range []string{magic, magicOld, magicSwapped} {
		if bytes.HasPrefix(head, []byte(m)) {
			return true
		}
	}
	return false
}

// readHeader reads what precedes the data; digests cover front.
func (f *File) readHeader(r io.Reader) (front []byte, err error) {
	head := make([]byte, pipeSize)
	if n, err := io.ReadFull(r, head); err != nil {
		return nil, torn(int64(n), err)
	}
	switch {
	case bytes.HasPrefix(head, []byte(magicSwapped)):
		return nil, fmt.Errorf("%w: it is of a big-endian machine; perf script prints it as text, which can be read", ErrVersion)
	case bytes.HasPrefix(head, []byte(magicOld)):
		return nil, fmt.Errorf("%w: it is of a perf of before 2012; perf script prints it as text, which can be read", ErrVersion)
	case !bytes.HasPrefix(head, []byte(magic)):
		return nil, ErrMagic
	}
	switch size := binary.LittleEndian.Uint64(head[8:]); size {
	case pipeSize:
		f.layout = layout{pipe: true, data: section{at: pipeSize}}
		return head, nil
	case headerSize:
		return f.readFront(r, head)
	default:
		return nil, &damage.Error{Off: 8, Err: fmt.Errorf("%w: a header of %d bytes", damage.ErrDamaged, size)}
	}
}

// readFront reads the rest of the header, and the attrs.
func (f *File) readFront(r io.Reader, head []byte) (front []byte, err error) {
	rest := make([]byte, headerSize-pipeSize)
	if n, err := io.ReadFull(r, rest); err != nil {
		return nil, torn(int64(pipeSize+n), err)
	}
	c := cursor{rest: rest}
	attrSize, attrs := c.u64(), c.section()
	f.layout.data = c.section()
	c.section() // of event types, which nobody writes any more
	for word := range 4 {
		for set := c.u64(); set != 0; set &= set - 1 {
			f.layout.features = append(f.layout.features, 64*word+bits.TrailingZeros64(set))
		}
	}
	d := f.layout.data
	if d.at < headerSize || d.at > maxFront || d.size > 1<<62 {
		return nil, &damage.Error{Off: 40, Err: fmt.Errorf("%w: data of %d bytes at offset %d", damage.ErrDamaged, d.size, d.at)}
	}
	front = make([]byte, d.at)
	copy(front, head)
	copy(front[pipeSize:], rest)
	if n, err := io.ReadFull(r, front[headerSize:]); err != nil {
		return nil, torn(int64(headerSize+n), err)
	}
	return front, f.readAttrs(front, attrs, attrSize)
}

// readAttrs reads the attr table, each row with a section of ids.
func (f *File) readAttrs(front []byte, table section, size uint64) error {
	rows, ok := table.of(front, 0)
	if !ok || size < attrSize+16 || uint64(len(rows))/size > maxAttrs {
		return &damage.Error{Off: 24, Err: fmt.Errorf("%w: %d bytes of events of %d bytes each", damage.ErrDamaged, table.size, size)}
	}
	for ; uint64(len(rows)) >= size; rows = rows[size:] {
		c := cursor{rest: rows[size-16 : size]}
		ids, ok := c.section().of(front, 0)
		if !ok {
			return &damage.Error{Off: int64(table.at), Err: fmt.Errorf("%w: ids of an event are not before the data", damage.ErrDamaged)}
		}
		f.addAttr(rows[:size-16], ids)
	}
	return nil
}

func (f *File) addAttr(b, ids []byte) {
	f.attrs = append(f.attrs, parseAttr(b))
	for ; len(ids) >= 8; ids = ids[8:] {
		f.byID[binary.LittleEndian.Uint64(ids)] = len(f.attrs) - 1
	}
}

// torn is the error of a file that ends at an offset.
func torn(at int64, err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return &damage.Error{Off: at, Err: damage.ErrTorn}
	}
	return err
}

// Numbers of features.
const (
	featureBuildID   = 2
	featureHostname  = 3
	featureRelease   = 4
	featureVersion   = 5
	featureArch      = 6
	featureCPUs      = 7
	featureCPU       = 8
	featureCommand   = 11
	featureEvents    = 12
	featureDirectory = 24
	featureClockData = 29
)

// facts are what perf noted of the machine.
type facts struct {
	host, release, version, arch, cpu, command string
	cpus                                       int
	builds                                     map[string]string // hex, by file name
	clock                                      struct{ wall, perf uint64 }
}

// readFeatures reads what follows the data.
func (f *File) readFeatures(r io.Reader) error {
	at := f.layout.data.at + f.layout.data.size
	b, err := io.ReadAll(io.LimitReader(r, maxFeatures))
	if err != nil {
		return err
	}
	table := cursor{rest: b}
	for _, number := range f.layout.features {
		s := table.section()
		body, ok := s.of(b, at)
		if table.short || !ok {
			return &damage.Error{Off: int64(at), Err: fmt.Errorf("%w: feature %d is not there", damage.ErrTorn, number)}
		}
		f.feature(number, body)
	}
	return nil
}

// feature reads a feature; unknown ones are skipped.
func (f *File) feature(number int, body []byte) {
	c := cursor{rest: body}
	switch number {
	case featureHostname:
		f.facts.host = c.str()
	case featureRelease:
		f.facts.release = c.str()
	case featureVersion:
		f.facts.version = c.str()
	case featureArch:
		f.facts.arch = c.str()
	case featureCPU:
		f.facts.cpu = c.str()
	case featureCPUs:
		c.u32() // of those that could be there
		f.facts.cpus = int(c.u32())
	case featureCommand:
		f.readCommand(&c)
	case featureEvents:
		f.readEvents(&c)
	case featureBuildID:
		for len(c.rest) > recordHead {
			c.u32()
			misc := c.u16()
			entry := c.take(uint64(max(recordHead, c.u16())) - recordHead)
			f.readBuild(misc, entry)
		}
	case featureClockData:
		if c.u32() == 1 {
			c.u32() // which clock
			wall, perf := c.u64(), c.u64()
			if !c.short && wall < 1<<62 && perf < 1<<62 {
				f.facts.clock.wall, f.facts.clock.perf = wall, perf
			}
		}
	}
}

// readCommand reads perf's command line.
func (f *File) readCommand(c *cursor) {
	var command []byte
	for n := c.u32(); n > 0 && !c.short && len(command) < maxText; n-- {
		if len(command) > 0 {
			command = append(command, ' ')
		}
		command = append(command, c.str()...)
	}
	f.facts.command = string(command[:min(len(command), maxText)])
}

// readEvents reads the names of events, in the order of attrs.
func (f *File) readEvents(c *cursor) {
	n, size := c.u32(), c.u32()
	for i := range min(int(n), len(f.attrs)) {
		c.take(uint64(size))
		ids := c.u32()
		if name := c.str(); name != "" && !c.short {
			f.attrs[i].name = name[:min(len(name), maxText)]
		}
		c.take(8 * uint64(ids))
	}
}

// buildSize is the size of a build id that doesn't tell it.
const buildSize = 20

// readBuild reads the build id of a file.
func (f *File) readBuild(misc uint16, entry []byte) {
	c := cursor{rest: entry}
	c.u32() // of which process
	id := c.take(24)
	name := c.text()
	if id == nil || name == "" {
		return
	}
	size := buildSize
	if misc&miscIDSize != 0 {
		size = min(int(id[buildSize]), buildSize)
	}
	f.facts.builds[name] = buildText(id[:size])
}

// buildText is a build id in hex; one of zeros is none.
func buildText(id []byte) string {
	if bytes.Count(id, []byte{0}) == len(id) {
		return ""
	}
	return hex.EncodeToString(id)
}
