package chunks

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"

	"gprof/rawformat"
)

// ErrNoRecording means that there is nothing of ours where a recording was looked for.
var ErrNoRecording = errors.New("no recording")

// ErrNewer means that all files of a process are of a later version of the format, which may
// have the instance elsewhere.
var ErrNewer = errors.New("recorded by a later version, whose files can't be read here; read them with that version's gprof-convert")

// Process is what lies in one instance directory. It holds neither chunks nor dictionaries
// in memory.
type Process struct {
	Dir      string // path in the file system
	Instance uint64
	Pid      uint32
	Meta     []Meta   // in file order; nil: no meta file
	Exit     *Exit    // nil: none
	Dicts    []*Dict  // by generation
	Chunks   []*Image // in use, by range start
	// Rest is what its stack rings held, as the chunks that it would have written. For a
	// live process it does not count, as that is about to drain the rings itself.
	Rest    []*Image
	LeftOut []*Image // of which a slice left only the header, by range start
	Traces  []Trace  // by name
	// Held is the process' range start: the recorder discarded everything before it.
	Held     uint64
	Problems []Problem // found so far; reading blocks finds more

	alone bool // it is one chunk file
}

// OpenProcess reads the headers of all chunks and dictionaries in an instance directory,
// and its meta and exit files. Damage is in Problems. It is an error only if the
// directory cannot be read, or if nothing in it is ours ([ErrNoRecording], with the first
// file's reason).
//
// The process may be recording meanwhile, and a range that it hands out while its files
// are read may lie in a file that was read before. So if a range seems to be missing, the
// files are read again, and only ranges that the first look saw the end of can be gaps
// then. In a copy of a live process a sample may be both in a stack ring and in a chunk;
// it counts once.
func OpenProcess(fsys fs.FS, dir string) (*Process, error) {
	p, _, err := OpenIf(fsys, dir, func([]fs.DirEntry) bool { return true })
	return p, err
}

// OpenIf lists a directory, and opens it as OpenProcess does if its entries look like those of a process; else p is nil.
func OpenIf(fsys fs.FS, dir string, isProcess func([]fs.DirEntry) bool) (p *Process, entries []fs.DirEntry, err error) {
	type result struct {
		p       *Process
		entries []fs.DirEntry
		err     error
	}
	r, err := grouped(fsys, func(inside fs.FS) (r result) {
		if r.entries, r.err = fs.ReadDir(inside, dir); r.err != nil && len(r.entries) == 0 || !isProcess(r.entries) {
			return r
		}
		r.p, r.err = openLive(inside, dir, r.entries, r.err)
		return r
	})
	if r.p != nil {
		r.p.readFrom(fsys)
	}
	return r.p, r.entries, cmp.Or(err, r.err)
}

// readFrom sets the file system that files are read from.
func (p *Process) readFrom(fsys fs.FS) {
	for _, im := range slices.Concat(p.Chunks, p.LeftOut) {
		im.fsys = fsys
	}
	for _, d := range p.Dicts {
		d.fsys = fsys
	}
}

// openLive opens a directory with these entries, of which the error of listing may have cost some.
func openLive(fsys fs.FS, dir string, entries []fs.DirEntry, listing error) (*Process, error) {
	p, err := openProcess(fsys, dir, entries, listing, math.MaxUint64)
	for looked := 1; err == nil && looked < looks && p.mayTurn(); looked++ {
		before := p.Problems
		if entries, err = fs.ReadDir(fsys, dir); err != nil && len(entries) == 0 {
			return nil, err
		}
		if p, err = openProcess(fsys, dir, entries, err, p.end()); err == nil && slices.Equal(before, p.Problems) {
			break // nothing goes on
		}
	}
	return p, err
}

// looks is how often the files of a process are read at most: twice, and once more because
// a writer may have a range that its chunk does not state yet.
const looks = 3

// openProcess is one look. Missing ranges from the index sure on are not gaps.
func openProcess(fsys fs.FS, dir string, entries []fs.DirEntry, listing error, sure uint64) (*Process, error) {
	o := opening{fsys: fsys, listed: true, sure: sure, p: &Process{Dir: dir}}
	if listing != nil {
		o.report(Problem{Class: Unreadable, Where: path.Base(dir), What: listing.Error(), Blocks: -1})
	}
	for _, e := range entries {
		o.file(path.Join(dir, e.Name()))
	}
	if err := o.finish(); err != nil {
		return nil, err
	}
	if o.p.Instance == 0 && o.newer { // nothing is known of it, not even when it was
		return nil, ErrNewer
	}
	if o.p.Exit != nil || !o.p.gaveBack() { // otherwise the header that states discards may be gone
		o.gaps()
	}
	o.missing()
	o.undrained()
	return o.p, nil
}

// Survey is one look at the files of an instance that nobody writes, whose directory
// holds these entries. It neither reads what stack rings hold nor says what is missing.
// The error is that of the file system if nothing could be read, for want of descriptors,
// say: that does not mean that nothing is there.
func Survey(fsys fs.FS, dir string, entries []fs.DirEntry) (*Process, error) {
	o := opening{fsys: fsys, listed: true, p: &Process{Dir: dir}}
	for _, e := range entries {
		o.file(path.Join(dir, e.Name()))
	}
	if !o.ours && o.ioErr != nil && !errors.Is(o.ioErr, ErrNotRegular) {
		return nil, o.ioErr
	}
	return o.p, o.finish()
}

// mayTurn reports whether a range or a file seems to be missing because the process is
// still recording, or because others make room for theirs.
func (p *Process) mayTurn() bool {
	isGap := func(pr Problem) bool { return pr.Class == Gap }
	return p.gaveBack() || p.Exit == nil && slices.ContainsFunc(p.Problems, isGap)
}

// gaveBack reports whether a file was removed while the directory was read.
func (p *Process) gaveBack() bool {
	return slices.ContainsFunc(p.Problems, func(pr Problem) bool { return pr.What == givenBack })
}

// end is the index after all chunks, as far as known.
func (p *Process) end() (end uint64) {
	for _, im := range p.known() {
		end = max(end, im.End())
	}
	return end
}

// missing reports files that the chunks refer to but that the directory does not hold, and
// what a slice left out.
func (o *opening) missing() {
	p := o.p
	left := Problem{Class: LeftOut, Where: fmt.Sprintf("%d chunks", len(p.LeftOut)), What: "left out by a slice"}
	for _, im := range p.LeftOut {
		left.Blocks += int64(im.Header.Commit.Blocks())
		left.Bytes += int64(im.Header.Commit.Offset())
	}
	if len(p.LeftOut) > 0 {
		o.report(left)
	}
	if len(p.Chunks) > 0 && p.Meta == nil {
		o.report(Problem{Class: Missing, Where: MetaName, What: "meta file is missing"})
	}
	blocks := map[uint32]int64{} // by generation
	for _, im := range p.Chunks {
		blocks[uint32(im.Header.Generation)] += int64(im.Header.Commit.Blocks())
	}
	for _, d := range p.Dicts {
		delete(blocks, d.Generation)
	}
	for _, generation := range slices.Sorted(maps.Keys(blocks)) {
		o.report(Problem{Class: Missing, Where: DictFile.FileName(generation), What: "dictionary is missing", Blocks: blocks[generation]})
	}
}

// OpenChunk opens a single chunk file, as a process with just that chunk. Chunks that are
// missing around it are not gaps. The error is as for [OpenProcess].
func OpenChunk(fsys fs.FS, name string) (*Process, error) {
	o := opening{fsys: fsys, p: &Process{Dir: path.Dir(name), alone: true}}
	o.chunk(name)
	if err := o.finish(); err != nil {
		return nil, err
	}
	return o.p, nil
}

// Blocks reads the blocks of all chunks. Problems go to report, which may be nil.
func (p *Process) Blocks(report func(Problem)) *Reader { return NewReader(p.Images(), report) }

// Images returns all that is to be read: the chunks, and then the rest.
func (p *Process) Images() []*Image { return slices.Concat(p.Chunks, p.Rest) }

// opening gathers what the files of a directory hold, until it is known which instance
// they belong to.
type opening struct {
	fsys    fs.FS
	listed  bool   // the files were in the directory a moment ago
	sure    uint64 // index below which everything was handed out before they were listed
	p       *Process
	images  []*Image
	records []*recordFile
	rings   []*ring
	ours    bool
	newer   bool     // there are files of a later version of the format
	odd     []string // files with our names that are not ours
	ioErr   error    // the first
}

// recordFile is a dictionary, meta or exit file. For a dictionary it has no data.
type recordFile struct {
	name   string
	header rawformat.RecordHeader
	size   int64
	data   []byte
}

// records returns the intact records of the file.
func (f *recordFile) records(report func(Problem)) (all []Record) {
	scan := newRecordScan(f.name, f.data, f.header, report)
	for rec := (Record{}); scan.next(&rec); {
		all = append(all, rec)
	}
	return all
}

func (o *opening) report(p Problem) { o.p.Problems = append(o.p.Problems, p) }

// file opens a file by the kind that its name says; files that are not ours are ignored.
func (o *opening) file(name string) {
	switch kind := KindOf(path.Base(name)); kind {
	case ChunkFile:
		o.chunk(name)
	case DictFile, MetaFile, ExitFile:
		o.record(name, fileKinds[kind].magic)
	case StacksFile:
		o.stacks(name)
	case TraceFile:
		o.trace(name)
	}
}

// trace notes a window of the execution trace. Its content is for other readers.
func (o *opening) trace(name string) {
	if info, err := fs.Stat(o.fsys, name); err == nil && info.Mode().IsRegular() {
		o.p.Traces = append(o.p.Traces, Trace{path.Base(name), info.Size()})
	}
}

func (o *opening) chunk(name string) {
	im, pr := probeImage(o.fsys, name)
	if o.add(name, pr); im != nil {
		o.images = append(o.images, im)
	}
}

func (o *opening) record(name, magic string) {
	f, pr := probeRecords(o.fsys, name, magic)
	if o.add(name, pr); f != nil {
		o.records = append(o.records, f)
	}
}

func (o *opening) add(name string, pr probe) {
	if o.listed && errors.Is(pr.err, fs.ErrNotExist) {
		pr.problems = []Problem{goneSince(name)}
	}
	o.p.Problems = append(o.p.Problems, pr.problems...)
	o.ours, o.newer = o.ours || pr.ours, o.newer || pr.newer
	if o.ioErr == nil {
		o.ioErr = pr.err
	}
	if !pr.ours && pr.err == nil {
		o.odd = append(o.odd, name)
	}
}

// finish decides which instance this is and takes its files over.
func (o *opening) finish() error {
	if !o.ours {
		return o.nothing()
	}
	p := o.p
	p.Instance = o.instance()
	for _, f := range o.records {
		if o.belongs(f.name, f.header.Instance, f.size) {
			o.take(f)
		}
	}
	o.dicts()
	for _, im := range o.images {
		if o.belongs(im.Name, im.Header.Instance, im.Size) {
			p.place(im)
			p.Held = max(p.Held, im.Header.Held)
			p.Pid = cmp.Or(p.Pid, im.Header.Pid)
		}
	}
	o.order()
	p.markCut()
	return nil
}

// place takes a chunk, or what a slice left of one.
func (p *Process) place(im *Image) {
	if im.leftOut() {
		p.LeftOut = append(p.LeftOut, im)
	} else {
		p.Chunks = append(p.Chunks, im)
	}
}

func (o *opening) nothing() error {
	switch {
	case o.ioErr != nil:
		return fmt.Errorf("%w: %w", ErrNoRecording, o.ioErr)
	case len(o.odd) > 0:
		return fmt.Errorf("%w: %s: %w", ErrNoRecording, path.Base(o.odd[0]), rawformat.ErrMagic)
	}
	return ErrNoRecording
}

// instance is the instance that meta names, or else that of most files.
func (o *opening) instance() uint64 {
	var all []uint64
	for _, f := range o.records {
		if f.header.Magic == rawformat.MagicMeta {
			return f.header.Instance
		}
		all = append(all, f.header.Instance)
	}
	for _, im := range o.images {
		all = append(all, im.Header.Instance)
	}
	return most(all)
}

// most is the most frequent value, the lowest one if there are several, 0 if there is
// none.
func most(values []uint64) (best uint64) {
	slices.Sort(values)
	longest := 0
	for i, run := 0, 0; i < len(values); i++ {
		if run++; i > 0 && values[i] != values[i-1] {
			run = 1
		}
		if run > longest {
			best, longest = values[i], run
		}
	}
	return best
}

func (o *opening) belongs(name string, instance uint64, size int64) bool {
	if instance == o.p.Instance {
		return true
	}
	o.report(Problem{Class: Foreign, Where: path.Base(name), What: fmt.Sprintf("of process %016x", instance), Blocks: -1, Bytes: size})
	return false
}

// take reads the records of a file.
func (o *opening) take(f *recordFile) {
	p := o.p
	p.Pid = cmp.Or(p.Pid, f.header.Pid)
	switch f.header.Magic {
	case rawformat.MagicDict:
		p.Dicts = append(p.Dicts, &Dict{Name: f.name, Generation: f.header.Generation, Size: f.size, header: f.header, fsys: o.fsys})
	case rawformat.MagicMeta:
		p.Meta = metaOf(f.records(o.report))
	case rawformat.MagicExit:
		p.Exit = exitOf(f.records(o.report))
	}
	if p.Exit != nil {
		p.Held = max(p.Held, p.Exit.RangeStart)
	}
	p.Held = max(p.Held, p.Number(rawformat.MetaRangeStart))
}

// dicts sorts the dictionaries, and keeps that with the most records of each generation.
func (o *opening) dicts() {
	d := o.p.Dicts
	slices.SortStableFunc(d, func(a, b *Dict) int { return cmp.Compare(a.Generation, b.Generation) })
	kept := d[:0]
	for _, next := range d {
		if n := len(kept); n > 0 && kept[n-1].Generation == next.Generation {
			kept[n-1] = o.longer(kept[n-1], next)
			continue
		}
		kept = append(kept, next)
	}
	o.p.Dicts = kept
}

// longer returns the dictionary that has more records, and reports the other.
func (o *opening) longer(a, b *Dict) *Dict {
	inA, inB := len(a.All(nil)), len(b.All(nil))
	if inB > inA {
		a, b, inB = b, a, inA
	}
	o.report(Problem{Class: Duplicate, Where: path.Base(b.Name), What: "dictionary given twice", Blocks: int64(inB)})
	return a
}
