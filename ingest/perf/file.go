package perf

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"
	"strings"

	"gprof/ingest/internal/damage"
	"gprof/ingest/internal/naming"
	"gprof/rawformat/perfevent"
	"gprof/stream"
)

// File is an open perf.data: what is known of it before its samples are read.
type File struct {
	open           func() (io.ReadCloser, error)
	layout         layout
	facts          facts
	attrs          []attr
	byID           map[uint64]int // index in attrs
	life           *life
	packed         bool // there are compressed records
	torn           error
	expected       estimate // while opening
	stacks, frames int64    // lower bounds
	size           int64    // bytes of the data
	digest         uint64   // of its beginning
	resolve        naming.Resolve
	follow         naming.Follow
	rows           []stream.Process
}

const bufferSize = 256 << 10

// Open scans a file for its processes; open opens it, decompressed, and is called again when it is
// read. The error wraps that of reading, or is a [damage.Error]. If there is a File as well, it is
// readable up to the error.
func Open(open func() (io.ReadCloser, error)) (*File, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f := &File{open: open, byID: map[uint64]int{}, life: newLife(), facts: facts{builds: map[string]string{}}}
	in := bufio.NewReaderSize(r, bufferSize)
	sum := sha256.New()
	front, err := f.readHeader(in)
	if err != nil {
		return nil, err
	}
	sum.Write(front[:min(len(front), pipeSize)]) // what follows tells sizes, which a copy that is cut short may lack
	if len(front) > headerSize {
		sum.Write(front[headerSize:])
	}
	if err = f.learn(in, sum); err == nil && !f.layout.pipe && f.layout.data.size > 0 {
		err = f.readFeatures(in)
	}
	f.torn = err
	if len(f.attrs) == 0 {
		return nil, errors.Join(err, &damage.Error{Off: f.size, Err: damage.ErrTorn})
	}
	f.digest = binary.LittleEndian.Uint64(sum.Sum(nil))
	chooseUses(f.attrs)
	f.life.settle()
	f.rows = f.processes()
	f.stacks, f.frames = f.expected.atLeast()
	f.expected = estimate{}
	if err == nil && len(f.rows) == 0 {
		err = f.empty()
	}
	return f, err
}

// empty is the error of a file without samples.
func (f *File) empty() error {
	if slices.Contains(f.layout.features, featureDirectory) {
		return fmt.Errorf("%w: perf record --threads put the samples into files beside it; perf script -i with their folder prints all as text, which can be read", ErrVersion)
	}
	return ErrEmpty
}

// digested is how many bytes of the records identify a file: they have times and ids that no other
// file has.
const digested = 64 << 10

// learn scans all records for processes, compressed ones too. The error is what ends the file
// early.
func (f *File) learn(in *bufio.Reader, sum hash.Hash) error {
	raw := f.rawRecords(in)
	err := f.learnFrom(raw, sum)
	f.size = raw.at - int64(f.layout.data.at)
	var damaged *damage.Error
	if !f.packed || err != nil && !errors.As(err, &damaged) {
		return err
	}
	if bad := f.learnPacked(); err == nil { // of a torn file, what is compressed is torn too
		err = bad
	}
	return err
}

// learnPacked scans the compressed records.
func (f *File) learnPacked() error {
	r, err := f.open()
	if err != nil {
		return err
	}
	defer r.Close()
	again := bufio.NewReaderSize(r, bufferSize)
	if _, err := again.Discard(int(f.layout.data.at)); err != nil {
		return err
	}
	unpacked, z, err := unpack(f.rawRecords(again))
	if err != nil {
		return err
	}
	defer z.Close()
	return f.learnFrom(unpacked, io.Discard)
}

// rawRecords returns the records of a reader at their beginning.
func (f *File) rawRecords(in *bufio.Reader) *records {
	d := f.layout.data
	r := &records{r: in, at: int64(d.at), end: int64(d.at + d.size), pipe: f.layout.pipe}
	if d.size == 0 { // to a pipe, or perf was killed
		r.end = -1
	}
	return r
}

func (f *File) learnFrom(r *records, sum io.Writer) error {
	var rec record
	var s perfevent.Sample
	for {
		if err := r.next(&rec); err != nil {
			if err == io.EOF {
				err = nil
			}
			return err
		}
		if r.at-int64(f.layout.data.at) <= digested {
			sum.Write(rec.body)
		}
		f.take(&rec, &s)
	}
}

// take learns from a record.
func (f *File) take(rec *record, s *perfevent.Sample) {
	switch rec.kind {
	case recordCompressed, recordCompressed2:
		f.packed = true
	case recordAttr:
		f.takeAttr(rec.body)
	case recordFeature:
		c := cursor{rest: rec.body}
		if number := c.u64(); !c.short {
			f.feature(int(min(number, math.MaxInt32)), c.rest)
		}
	case recordBuildID:
		f.readBuild(rec.misc, rec.body)
	case perfevent.KindSample:
		if a := f.attrOf(rec.body); a != nil && a.ParseSample(rec.body, s) {
			f.life.see(s.Pid, s.Time)
			f.expected.add(s.Pid, s.Chain)
		}
	default:
		if len(f.attrs) > 0 {
			f.life.read(rec, &f.attrs[0])
		}
	}
}

// takeAttr takes an attr among the records, with its ids.
func (f *File) takeAttr(body []byte) {
	if len(body) < attrSize || len(f.attrs) == maxAttrs {
		return
	}
	size := binary.LittleEndian.Uint32(body[4:])
	if size < attrSize || uint64(size) > uint64(len(body)) {
		return
	}
	f.addAttr(body[:size], body[size:])
}

// attrOf is the event of a sample, nil unknown.
func (f *File) attrOf(body []byte) *attr {
	if len(f.attrs) == 1 {
		return &f.attrs[0]
	} else if len(f.attrs) == 0 {
		return nil
	}
	at := f.attrs[0].idOffset()
	if at < 0 || at+8 > len(body) {
		return nil
	}
	return f.attrWith(binary.LittleEndian.Uint64(body[at:]), nil)
}

// attrWith is the event of an id; alone if there is only one.
func (f *File) attrWith(id uint64, alone *attr) *attr {
	i, ok := f.byID[id]
	switch {
	case ok:
		return &f.attrs[i]
	case len(f.attrs) == 1:
		return alone
	}
	return nil
}

// idOffset is the offset of the id in samples, the same for all events; -1: none.
func (a *attr) idOffset() int {
	if a.Sample&perfevent.SampleIdentifier != 0 {
		return 0
	}
	if a.Sample&perfevent.SampleID == 0 {
		return -1
	}
	at := 0
	for _, bit := range []uint64{perfevent.SampleIP, perfevent.SampleTID, perfevent.SampleTime, perfevent.SampleAddr} {
		if a.Sample&bit != 0 {
			at += 8
		}
	}
	return at
}

// placedByPerf is the clock of files that have the real time.
const placedByPerf = "perf's reading of the real time"

// maxMoment is the end of perf's clock: 146 years.
const maxMoment = math.MaxInt64 / 2

// moment converts perf's clock to real time, if known.
func (f *facts) moment(time uint64) stream.Time {
	at := stream.Time(min(time, maxMoment))
	if f.clock.wall != 0 {
		at += stream.Time(f.clock.wall) - stream.Time(f.clock.perf)
	}
	return at
}

// placed describes the clock.
func (f *facts) placed() stream.Clock {
	c := stream.Clock{Pieces: 1, Uncertainty: -1}
	if f.clock.wall != 0 {
		at := stream.Time(f.clock.wall)
		c.By, c.Anchors, c.First, c.Last = placedByPerf, 1, at, at
	}
	return c
}

// Processes returns the processes that were seen. The rows are read-only.
func (f *File) Processes() []stream.Process { return f.rows }

func (f *File) processes() []stream.Process {
	numbers := make(map[*process]int, len(f.life.all))
	for i, p := range f.life.all {
		numbers[p] = i + 1
	}
	rows, sampled := make([]stream.Process, len(f.life.all)), "perf "+f.events()
	for i, p := range f.life.all {
		rows[i] = f.row(p, sampled)
		rows[i].Parent = stream.ProcessID(numbers[p.parent])
	}
	return rows
}

// row describes a process.
func (f *File) row(p *process, sampled string) stream.Process {
	row := f.facts.row(p, f.digest, sampled)
	row.Exe = f.life.program(p)
	if i := slices.IndexFunc(f.attrs, func(a attr) bool { return a.use != asMeasurements }); i >= 0 {
		row.Interval = f.attrs[i].interval()
	}
	return row
}

// row describes a process of a file with that digest.
func (f *facts) row(p *process, digest uint64, sampled string) stream.Process {
	row := stream.Process{
		Instance: p.instance(digest), Pid: int(p.pid), Name: p.comm, Host: f.host, OS: "linux", Arch: f.arch, CPUs: f.cpus,
		Start: f.moment(p.start()), End: f.moment(max(p.span.last, p.start())), CPU: sampled, Clock: f.placed(),
	}
	switch {
	case row.Name == "" && p.pid == 0:
		row.Name = "idle"
	case row.Name == "":
		row.Name = "unnamed program"
	}
	for _, a := range []stream.Attr{{Key: "perf command", Value: f.command}, {Key: "perf version", Value: f.version}, {Key: "kernel", Value: f.release}, {Key: "cpu", Value: f.cpu}} {
		if a.Value != "" {
			row.Attrs = append(row.Attrs, a)
		}
	}
	return row
}

// start is when a process was born, or first seen.
func (p *process) start() uint64 {
	if p.born != 0 {
		return p.born
	}
	return p.span.first
}

// events names the events.
func (f *File) events() string {
	names := make([]string, len(f.attrs))
	for i := range f.attrs {
		names[i] = f.attrs[i].name
	}
	return strings.Join(names, ", ")
}

// instance identifies a process of the file with that digest.
func (p *process) instance(digest uint64) uint64 {
	var b [20]byte
	binary.LittleEndian.PutUint64(b[:], digest)
	binary.LittleEndian.PutUint64(b[8:], p.born)
	binary.LittleEndian.PutUint32(b[16:], uint32(p.pid))
	sum := sha256.Sum256(b[:])
	return max(1, binary.LittleEndian.Uint64(sum[:]))
}

// Lacks names what such a file does not tell.
func (f *File) Lacks() string {
	lacks := "goroutines, markers and counters; names of functions (give the programs, or ~/.debug, with --symbols)"
	flag := "--buildid-all"
	if f.layout.pipe {
		flag = "--buildid-mmap"
	}
	if f.lacksBuilds() {
		lacks += "; build ids, by which programs are found, of some files (perf record " + flag + " tells them)"
	}
	if f.facts.clock.wall == 0 {
		lacks += "; the real time (perf record -k CLOCK_MONOTONIC tells it)"
	}
	return lacks
}

// lacksBuilds reports whether a mapped file has no build id: perf notes only those of files with
// samples.
func (f *File) lacksBuilds() bool {
	return slices.ContainsFunc(f.life.files, func(m file) bool {
		return strings.HasPrefix(m.name, "/") && !strings.HasPrefix(m.name, "//") && m.build == "" && f.facts.builds[m.name] == ""
	})
}

// NameBy sets what names functions.
func (f *File) NameBy(resolve naming.Resolve) { f.resolve = resolve }

// FollowBy sets what tells how calls are followed, in stacks of which perf copied the memory.
func (f *File) FollowBy(follow naming.Follow) { f.follow = follow }
