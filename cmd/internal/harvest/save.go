package harvest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"gprof/chunks/folder"
	chunksession "gprof/chunks/session"
	"gprof/ingest/pack"
)

// save saves what a process left, unless that was done before. The error is that of the place.
func (h *Harvester) save(ctx context.Context, p *process) error {
	size, err := h.o.Place.Size(p.name())
	switch {
	case err == nil && p.gone:
		p.state = done
		return nil
	case err == nil:
		return h.present(p, size)
	case p.gone && errors.Is(err, fs.ErrNotExist):
		h.settle(p, Gone)
		return nil
	case errors.Is(err, fs.ErrPermission) && p.gone: // it may write there, and not look
		p.state = done
		return nil
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
		return h.failed(err)
	}
	a := attempt{h: h, p: p}
	begun := time.Now()
	for again := true; again; {
		a = attempt{h: h, p: p, number: a.number + 1}
		err = h.o.Place.Stream(ctx, p.name(), func(w io.Writer) error { return a.write(&paced{ctx, h.limit, w}) })
		again = errors.Is(err, errVanished) && !a.gone
	}
	switch {
	case a.gone:
		h.settle(p, Gone)
	case errors.Is(err, fs.ErrExist):
		if size, err = h.o.Place.Size(p.name()); err != nil { // it may write there, and not look
			size = -1
		}
		return h.present(p, size)
	case err != nil:
		return h.failed(err)
	default:
		e := p.event(Saved)
		e.Path, e.Bytes, e.Took = h.o.Place.Path(p.name()), a.sum.Size, time.Since(begun)
		p.state = done
		h.works(e)
		a.tellMissing()
		h.remove(p, a.missing)
	}
	return nil
}

// settle notes that nothing more can be done.
func (h *Harvester) settle(p *process, what What) {
	p.state = done
	h.works(p.event(what))
}

// present notes that the place has a file of the process, of this size. It is removed only if
// that is the size of what it would be now.
func (h *Harvester) present(p *process, size int64) error {
	e := p.event(Present)
	e.Path, e.Bytes = h.o.Place.Path(p.name()), max(0, size)
	p.state = done
	h.works(e)
	if !h.o.Remove {
		return nil
	}
	a := attempt{h: h, p: p, number: maxAttempts}
	if err := a.write(io.Discard); err == nil && a.sum.Size != size {
		a.missing = append(a.missing, fmt.Errorf("%s is of another size: %d B, not %d B", e.Path, size, a.sum.Size))
	}
	h.remove(p, a.missing)
	return nil
}

// remove removes what a process left, if that was asked for and all of it is in the place.
func (h *Harvester) remove(p *process, missing []error) {
	if !h.o.Remove {
		return
	}
	err := errors.Join(missing...)
	switch {
	case err != nil:
	case p.kept != "":
		err = folder.RemoveFile(p.dir())
	default:
		err = chunksession.Remove(p.dir())
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		h.report(p.event(Removed))
		return
	}
	e := p.event(Kept)
	e.Err = err
	h.report(e)
}

// failed notes that the place fails, and says so if it worked before.
func (h *Harvester) failed(err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.down && !errors.Is(err, context.Canceled) {
		h.down = true
		h.tell(Event{What: Unreachable, Err: err})
	}
	return err
}

// works reports an event that shows that the place works, and says so if it did not before.
func (h *Harvester) works(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.down {
		h.down = false
		h.tell(Event{What: Reachable})
	}
	h.tell(e)
}

const (
	// maxAttempts is how often a recording is packed from the beginning, because the session made
	// room meanwhile. What is missing the last time is told.
	maxAttempts = 5
	// maxMissing is how many files that can't be read are named.
	maxMissing = 10
)

// errVanished ends an attempt: a file was removed to make room after the exit record was read,
// which says what was.
var errVanished = errors.New("made room meanwhile")

// attempt is one attempt to pack a recording.
type attempt struct {
	h       *Harvester
	p       *process
	number  int
	sum     pack.Summary
	missing []error // files that could not be read
	more    int     // of them, which are not named
	broken  bool    // it begins anew
	gone    bool    // nothing is left
}

// write packs the recording.
func (a *attempt) write(w io.Writer) error {
	processes, files, err := a.open()
	if err != nil {
		a.gone = errors.Is(err, fs.ErrNotExist)
		return err
	}
	defer files.Close()
	a.sum, err = pack.Write(&guarded{a, w}, processes, pack.Options{Report: a.lacks})
	if err == nil && a.sum.Raw == 0 && len(a.missing) == 0 { // its files were removed before they were listed
		a.gone, err = true, errVanished
	}
	return err
}

// open opens the directory, or the kept file, which stays what it is when it makes room.
func (a *attempt) open() (processes []pack.Process, files io.Closer, err error) {
	root, err := os.OpenRoot(a.p.root)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	if a.p.kept == "" {
		dir, err := root.OpenRoot(a.p.rel)
		if err != nil {
			return nil, nil, err
		}
		return []pack.Process{{Instance: a.p.instance, FS: confined{dir}, Dir: "."}}, dir, nil
	}
	from, err := openKept(root, a.p.rel)
	if err != nil {
		return nil, nil, err
	}
	for _, problem := range from.Problems {
		a.lacks(problem)
	}
	for _, instance := range from.Instances() {
		processes = append(processes, from.Process(instance))
	}
	return processes, from.file, nil
}

// lacks notes that a file could not be packed.
func (a *attempt) lacks(err error) {
	a.broken = a.broken || errors.Is(err, fs.ErrNotExist) && a.number < maxAttempts
	if len(a.missing) == maxMissing {
		a.more++
		return
	}
	a.missing = append(a.missing, err)
}

// tellMissing tells what is not in the file.
func (a *attempt) tellMissing() {
	if a.more > 0 {
		a.missing = append(a.missing, fmt.Errorf("%d more files: not packed", a.more))
	}
	for _, err := range a.missing {
		e := a.p.event(Incomplete)
		e.Err = err
		a.h.report(e)
	}
}

// guarded ends an attempt at the next write after a file has vanished.
type guarded struct {
	a *attempt
	w io.Writer
}

// Write implements [io.Writer].
func (g *guarded) Write(b []byte) (int, error) {
	if g.a.broken {
		return 0, errVanished
	}
	return g.w.Write(b)
}
