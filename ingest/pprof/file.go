package pprof

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"gprof/ingest/internal/naming"
	"gprof/stream"
)

// File is a profile that was opened. It holds no file open, and little memory.
type File struct {
	header *header
	open   func() (io.ReadCloser, error)
	pool   *Pool
	kept   *kept // nil: there was no room, or it was read

	resolve naming.Resolve
}

// Open is [Pool.Open] for a profile alone.
func Open(open func() (io.ReadCloser, error)) (*File, error) { return new(Pool).Open(open) }

// Open reads a profile; open opens it, unpacked, and may be called again when its
// samples are wanted. The error wraps that of reading, or is a [damage.Error]. If
// there is a File as well, what stands before the error can be read.
func (p *Pool) Open(open func() (io.ReadCloser, error)) (*File, error) {
	in, err := open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r := p.takeReading()
	defer p.readings.Put(r)
	f := &File{open: open, pool: p}
	whole, failed := r.hold(in)
	if whole {
		f.header, err = r.scan(failed)
	} else {
		f.header, err = scan(io.MultiReader(bytes.NewReader(r.held), in))
	}
	if f.header == nil {
		return nil, err
	}
	if whole {
		f.kept = r.keep(p, f.header)
	}
	return f, err
}

// NameBy sets what names the functions of code that the file does not name. It is
// the same for all files of a run.
func (f *File) NameBy(resolve naming.Resolve) { f.resolve = resolve }

// Lacks says what such a file does not tell.
func (*File) Lacks() string {
	return "pid, host and version; when each sample was taken, and on which thread"
}

// Processes returns the one that a profile is of.
func (f *File) Processes() []stream.Process {
	h := f.header
	p := stream.Process{
		Instance: h.instance, Name: baseName(h.program), Exe: h.program,
		Start: stream.Time(h.time), End: h.end(), CPU: "profile of " + h.values(),
		Clock: stream.Clock{Pieces: 1, Uncertainty: -1},
	}
	if p.Name == "" {
		p.Name = "unnamed program"
	}
	if h.time > 0 {
		p.Clock.By = "the profile"
	}
	if factor, ok := timeUnits[h.periodType.unit]; ok && h.period > 0 {
		p.Interval, _ = times(h.period, factor)
	}
	p.Profile = stream.Profile{Default: h.chosen, PeriodType: stream.ValueType{Name: h.periodType.name, Unit: h.periodType.unit}, Period: h.period}
	for _, t := range h.types {
		p.Profile.Types = append(p.Profile.Types, stream.ValueType{Name: t.name, Unit: t.unit})
	}
	for _, a := range h.attributes {
		p.Attrs = append(p.Attrs, stream.Attr{Key: a.key, Value: a.value})
	}
	return []stream.Process{p}
}

// end is the last moment of a profile.
func (h *header) end() stream.Time {
	if h.duration > math.MaxInt64-h.time {
		return math.MaxInt64
	}
	return stream.Time(h.time + h.duration)
}

// values names the values of samples.
func (h *header) values() string {
	names := make([]string, len(h.types))
	for i, t := range h.types {
		names[i] = t.String()
	}
	return strings.Join(names, ", ")
}

// Source implements the source of the process, unless it has no id.
func (f *File) Source(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) stream.Source {
	if len(ids) == 0 || ids[0] == 0 {
		return stream.Merge(t)
	}
	return newSource(f, t, ids[0], shift)
}

// name is the process in the ledger.
func (h *header) name() string { return fmt.Sprintf("%016x", h.instance) }

// baseName is the name of a file, on whichever system.
func baseName(path string) string {
	return path[strings.LastIndexAny(path, `/\`)+1:]
}
