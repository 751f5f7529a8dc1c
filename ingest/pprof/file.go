package pprof

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"gprof/ingest/internal/messages"
	"gprof/ingest/internal/naming"
	"gprof/ingest/internal/values"
	"gprof/stream"
)

// File is an open profile. It holds no file open, and little memory.
type File struct {
	header *header
	open   func() (io.ReadCloser, error)
	pool   *Pool
	kept   *fileRows // nil: there was no room, or it was read
	sum    *sum      // of this and others of its kind, see [Pool.Add]; else nil

	resolve naming.Resolve
}

// Open is [Pool.Open] for a single profile.
func Open(open func() (io.ReadCloser, error)) (*File, error) { return new(Pool).Open(open) }

// Open reads a profile; open opens it, decompressed, and may be called again when the samples are
// read. The error wraps that of reading, or is a [damage.Error]. If there is a File as well, it is
// readable up to the error.
func (p *Pool) Open(open func() (io.ReadCloser, error)) (*File, error) {
	in, err := open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r := p.takeReading()
	defer p.readings.Put(r)
	f := &File{open: open, pool: p}
	whole, err := r.read(f, in)
	if f.header == nil {
		return nil, err
	}
	if whole {
		f.header.instance = r.digest()
		p.mu.Lock()
		defer p.mu.Unlock()
		f.kept = r.keep(p, f.header)
	}
	return f, err
}

// read reads the header of a file. If the whole of it is held, its digest is left to the caller, and its tables and
// the positions of its samples are read, too.
func (r *reading) read(f *File, in io.Reader) (whole bool, err error) {
	whole, failed := r.hold(in)
	if whole {
		f.header, err = r.scan(failed)
	} else {
		f.header, err = scan(io.MultiReader(bytes.NewReader(r.held), in))
	}
	return whole, err
}

// NameBy sets what names functions that the file doesn't. It is the same for all files of a run.
func (f *File) NameBy(resolve naming.Resolve) { f.resolve = resolve }

// Lacks names what such a file does not tell.
func (*File) Lacks() string {
	return "pid, host and version; when each sample was taken, and on which thread"
}

// Processes returns the profile's one process.
func (f *File) Processes() []stream.Process {
	h := f.header
	p := stream.Process{
		Instance: h.instance, Name: naming.BaseName(h.program), Exe: h.program,
		Start: stream.Time(h.time), End: h.end(), CPU: "profile of " + h.values(),
		Clock: stream.Clock{Pieces: 1, Uncertainty: -1},
	}
	if p.Name == "" {
		p.Name = "unnamed program"
	}
	if h.time > 0 {
		p.Clock.By = "the profile"
	}
	p.Interval = values.Nanoseconds(h.period, h.periodType.Unit)
	p.Profile = stream.Profile{Types: h.types, Default: h.chosen, PeriodType: h.periodType, Period: h.period}
	p.Profile.Sum, p.Profile.UnknownCPU = h.sum.isSum, h.sum.unknownCPU
	for _, a := range h.attributes {
		p.Attrs = append(p.Attrs, stream.Attr{Key: a.key, Value: a.value})
	}
	if n := f.Files(); n > 1 {
		p.Profile.Files = n
	}
	return []stream.Process{p}
}

// plan says what becomes of the values of samples.
func (h *header) plan() *values.Plan { return values.NewPlan(h.types, h.periodType, h.period) }

// values names the values of samples.
func (h *header) values() string {
	names := make([]string, len(h.types))
	for i, t := range h.types {
		names[i] = t.Name + "/" + t.Unit
	}
	return strings.Join(names, ", ")
}

// Source returns the source of the process, empty if it has no id.
func (f *File) Source(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) stream.Source {
	return stream.Merge(t, f.Sources(t, ids, shift)...)
}

// Sources are the parts of Source, which may be read at the same time.
func (f *File) Sources(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) (all []stream.Source) {
	if len(ids) == 0 || ids[0] == 0 {
		return nil
	}
	all = append(all, newSource(f, t, ids[0], shift))
	if f.sum != nil {
		for _, one := range f.sum.rest {
			one.resolve = f.resolve
			all = append(all, newSource(one, t, ids[0], shift))
		}
	}
	return all
}

// name is the process's name in the ledger.
func (h *header) name() string { return fmt.Sprintf("%016x", h.instance) }

// maxHeld is the size up to which a file is read into memory, once. A larger one is decompressed
// three times.
const maxHeld = 8 << 20

// reading reads a file in memory. It is reused.
type reading struct {
	held     []byte
	tables   tables
	messages []extent // of samples, in held
	samples  sampleReader
	out      []byte
}

func (p *Pool) takeReading() *reading {
	if r, ok := p.readings.Get().(*reading); ok {
		return r
	}
	return new(reading)
}

// hold reads a file to its end, unless it is too large, and holds what it read even before an
// error.
func (r *reading) hold(in io.Reader) (whole bool, err error) {
	r.held = r.held[:0]
	for err == nil && len(r.held) <= maxHeld {
		r.held = slices.Grow(r.held, messages.Window)
		var n int
		n, err = in.Read(r.held[len(r.held):cap(r.held)])
		r.held = r.held[:len(r.held)+n]
	}
	return err != nil, err
}

// scan reads header, tables and positions of samples from what is held; end is the error behind it.
// If it returns a header and an error, the file is intact up to there.
func (r *reading) scan(end error) (*header, error) {
	r.tables.reset()
	r.tables.texts.data, r.tables.texts.held = r.held, true
	s := scanner{fields: messages.Held(r.held, end), tables: &r.tables, samples: r.messages[:0], all: true}
	err := s.scan()
	r.messages = s.samples
	return s.resolve(err)
}

// digest is that of a file, which names its process.
func (r *reading) digest() uint64 {
	digest := sha256.Sum256(r.held)
	return max(1, binary.BigEndian.Uint64(digest[:]))
}

// fileRows is what is kept of a file: its samples, see [sample.append], and anomalies.
type fileRows struct {
	samples []byte
	odd     anomalies
}

// keep puts what was scanned into a pool, which is locked; nil if that is full.
func (r *reading) keep(p *Pool, h *header) *fileRows {
	if p.full() {
		return nil
	}
	p.users++
	r.out = r.out[:0]
	r.each(p, h.plan(), func(s *sample) { r.out = s.append(r.out) })
	p.kept += int64(len(r.out))
	return &fileRows{bytes.Clone(r.out), r.samples.odd()}
}

// each puts what was scanned into a pool, which is locked, and gives the samples, each valid until the next.
func (r *reading) each(p *Pool, plan *values.Plan, do func(*sample)) {
	r.samples.reset(&r.tables, p, plan)
	for some := range slices.Chunk(r.messages, together) {
		for _, m := range some {
			r.samples.begin(r.held[m.from:m.to])
		}
		r.samples.finish(func() { do(&r.samples.sample) })
	}
}
