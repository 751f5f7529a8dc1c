package pack

import (
	"io/fs"
	"path"

	"gprof/rawformat"
)

// Description is what a process says of itself, for lists.
type Description struct {
	Service string
	Pid     string
	Start   int64 // ns since the Unix epoch, 0 unknown
	Size    int64 // bytes of its files
	Crashed bool  // it is dead, did not end as it should, and left something
}

// Describe reads meta and exit. What cannot be read is not told.
func (p *Process) Describe() Description {
	d := Description{Crashed: !p.Live}
	files, err := p.list(func(error) {})
	if err != nil {
		return d
	}
	removed := len(files) > 0
	for _, f := range files {
		removed = removed && (f.kind == typeMeta || f.kind == typeExit)
		if info, err := fs.Stat(p.FS, path.Join(p.Dir, fileName(f.kind, f.number))); err == nil {
			d.Size += info.Size()
		}
		switch f.kind {
		case typeMeta:
			d.meta(p.records(f))
		case typeExit:
			d.Crashed = d.Crashed && crashed(p.records(f))
		}
	}
	d.Crashed = d.Crashed && !removed
	return d
}

// records are the bytes of a meta or exit file, none if it cannot be read.
func (p *Process) records(f file) []byte {
	data, err := p.read(f)
	if err != nil {
		return nil
	}
	return data
}

func (d *Description) meta(data []byte) {
	if c := metaClock(data); c.known {
		d.Start = c.real
	}
	d.Service = metaValue(data, rawformat.MetaService)
	d.Pid = metaValue(data, rawformat.MetaPid)
}

// crashed reports whether an exit record tells of an end that was none in order.
func crashed(exit []byte) bool {
	h, err := rawformat.ReadRecordHeader(exit)
	if err != nil {
		return true
	}
	r := rawformat.NewCursor(exit[rawformat.RecordHeaderSize:], rawformat.RecordHeaderSize)
	_, fields, intact, ok := r.Record(h.Instance, h.Generation)
	fields.Uint("monotonic")
	fields.Sint("realtime")
	reason, code := rawformat.ExitReason(fields.Uint("reason")), fields.Sint("code")
	if !ok || !intact || fields.Err() != nil {
		return true
	}
	return reason != rawformat.ExitStopped && (reason != rawformat.ExitNormal || code != 0)
}
