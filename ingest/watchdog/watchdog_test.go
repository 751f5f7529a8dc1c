package watchdog

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
)

const tick = time.Second

// Work that makes no progress for a whole tick is given up, after one tick at
// the earliest and two at the latest.
func TestGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(tick)
		start, hang := time.Now(), make(chan struct{})
		err := w.Do(func() { <-hang })
		if took := time.Since(start); err != ErrStalled || took < tick || took > 2*tick {
			t.Errorf("%v after %v", err, took)
		}
		close(hang)
	})
}

// While any operation makes progress, one that hangs waits on. Once none does,
// both are given up.
func TestProgressOfAny(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(tick)
		hang := make(chan struct{})
		start := time.Now()
		var waits sync.WaitGroup
		var took time.Duration
		waits.Go(func() {
			if err := w.Do(func() { <-hang }); err != ErrStalled {
				t.Errorf("%v, want %v", err, ErrStalled)
			}
			took = time.Since(start)
		})
		const alive = 20
		for range alive { // each of them slower than half a tick
			if err := w.Do(func() { time.Sleep(tick * 2 / 3) }); err != nil {
				t.Errorf("an operation that is slow but alive: %v", err)
			}
		}
		waits.Wait()
		if least := alive * tick * 2 / 3; took < least || took > least+2*tick {
			t.Errorf("given up after %v, want within two ticks of %v", took, least)
		}
		close(hang)
	})
}

// A pipe that trickles is read to its end, however long that takes.
func TestTrickle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pr, pw := io.Pipe()
		want := strings.Repeat("drop ", 50)
		go func() {
			for i := range len(want) {
				time.Sleep(tick * 9 / 10)
				pw.Write([]byte{want[i]})
			}
			pw.Close()
		}()
		got, err := io.ReadAll(New(tick).Reader(pr))
		if err != nil || string(got) != want {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// A pipe that stalls gives what it had, then the error, for good.
func TestStalledPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pr, pw := io.Pipe()
		go pw.Write([]byte("some"))
		r := New(tick).Reader(pr)
		got, err := io.ReadAll(r)
		if string(got) != "some" || err != ErrStalled {
			t.Errorf("%q, %v", got, err)
		}
		pw.Close() // the read that hangs ends, too late
		synctest.Wait()
		if n, err := r.Read(make([]byte, 1)); n != 0 || err != ErrStalled {
			t.Errorf("it goes on with %d bytes, %v", n, err)
		}
	})
}

// mount is a file system whose server goes and comes.
type mount struct {
	fstest.MapFS
	gone   chan struct{} // nil: it is there
	slow   time.Duration // of each operation
	closed atomic.Int32
}

func (m *mount) wait() {
	time.Sleep(m.slow)
	if m.gone != nil {
		<-m.gone
	}
}

func (m *mount) Open(name string) (fs.File, error) {
	m.wait()
	f, err := m.MapFS.Open(name)
	return &mountFile{f, m}, err
}

func (m *mount) OpenRegular(name string) (fs.File, int64, error) {
	f, err := m.Open(name)
	return f, int64(len(m.MapFS[name].Data)), err
}

func (m *mount) Stat(name string) (fs.FileInfo, error) {
	m.wait()
	return m.MapFS.Stat(name)
}

func (m *mount) ReadDir(name string) ([]fs.DirEntry, error) {
	m.wait()
	return m.MapFS.ReadDir(name)
}

type mountFile struct {
	fs.File
	m *mount
}

func (f *mountFile) ReadAt(p []byte, off int64) (int, error) {
	f.m.wait()
	return f.File.(io.ReaderAt).ReadAt(p, off)
}

func (f *mountFile) Close() error { f.m.closed.Add(1); return f.File.Close() }

// Each operation of a file system that hangs is given up; memory of the caller
// is not touched when it comes back.
func TestDeadMount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &mount{MapFS: fstest.MapFS{"d/f": {Data: bytes.Repeat([]byte("x"), 3*piece)}}}
		w := New(tick)
		fsys := w.FS(m, new(Mount))
		f, err := fsys.Open("d/f")
		if err != nil {
			t.Fatal(err)
		}
		whole := make([]byte, 3*piece+1)
		if n, err := f.(io.ReaderAt).ReadAt(whole, 0); n != 3*piece || err != io.EOF {
			t.Errorf("%d bytes, %v", n, err)
		}
		regular := func(fsys fs.FS) (fs.File, int64, error) { return fsys.(regularOpener).OpenRegular("d/f") }
		own, size, err := regular(fsys)
		if err != nil || size != 3*piece {
			t.Fatalf("%d bytes, %v", size, err)
		}
		m.gone = make(chan struct{})
		// Each as the first one that hangs.
		again := func() fs.FS { return w.FS(m, new(Mount)) }
		_, errOpen := again().Open("d/f")
		_, errStat := fs.Stat(again(), "d/f")
		_, errDir := fs.ReadDir(again(), "d")
		_, _, errRegular := regular(again())
		_, errOwn := own.(io.ReaderAt).ReadAt(make([]byte, 1), 0)
		p := []byte("mine")
		n, errRead := f.(io.ReaderAt).ReadAt(p, 0)
		start := time.Now() // the mount of fsys is known to be gone now
		if _, err := fs.Stat(fsys, "d/f"); !errors.Is(err, ErrStalled) || time.Since(start) > 0 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		for _, err := range []error{errOpen, errRegular, errStat, errDir, errRead, errOwn} {
			if !errors.Is(err, ErrStalled) {
				t.Errorf("%v, want %v", err, ErrStalled)
			}
		}
		close(m.gone)
		synctest.Wait()
		if n != 0 || string(p) != "mine" {
			t.Errorf("%d bytes read, memory is %q", n, p)
		}
		if n := m.closed.Load(); n != 2 {
			t.Errorf("%d files closed, want the two that opened too late", n)
		}
		f.Close()
		own.Close()
	})
}

type grouper interface{ Group(op func(fs.FS)) error }

// What a group does is done when Group returns, and each operation in it is progress: it may take many ticks.
func TestGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &mount{MapFS: fstest.MapFS{"d/f": {Data: bytes.Repeat([]byte("x"), 3*piece)}}, slow: tick * 3 / 4}
		fsys := New(tick).FS(m, new(Mount))
		whole := make([]byte, 3*piece+1)
		start := time.Now()
		err := fsys.(grouper).Group(func(inside fs.FS) {
			f, size, err := inside.(regularOpener).OpenRegular("d/f")
			if err != nil || size != 3*piece {
				t.Errorf("%d bytes, %v", size, err)
			}
			defer f.Close()
			if n, err := f.(io.ReaderAt).ReadAt(whole, 0); n != 3*piece || err != io.EOF || string(whole[n-1:]) != "x\x00" {
				t.Errorf("%d bytes, %v", n, err)
			}
			_, err1 := fs.Stat(inside, "d/f")
			_, err2 := fs.ReadDir(inside, "d")
			if err := errors.Join(err1, err2); err != nil {
				t.Error(err)
			}
		})
		if took := time.Since(start); err != nil || took < 3*tick {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// A group that hangs is given up, and does nothing more when it comes back.
func TestDeadGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &mount{MapFS: fstest.MapFS{"f": {Data: []byte("x")}}, gone: make(chan struct{})}
		fsys := New(tick).FS(m, new(Mount))
		var later error
		start := time.Now()
		err := fsys.(grouper).Group(func(inside fs.FS) {
			inside.Open("f")
			_, later = fs.Stat(inside, "f")
		})
		if took := time.Since(start); !errors.Is(err, ErrStalled) || took > 2*tick {
			t.Errorf("%v after %v", err, took)
		}
		if _, err := fs.Stat(fsys, "f"); !errors.Is(err, ErrStalled) {
			t.Errorf("%v, want that the mount is known to be gone", err)
		}
		close(m.gone)
		synctest.Wait()
		if !errors.Is(later, ErrStalled) {
			t.Errorf("%v, want that the group ends", later)
		}
	})
}

// Without a tick nothing is watched.
func TestForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := New(0).Do(func() { time.Sleep(1000 * time.Hour) }); err != nil {
			t.Error(err)
		}
	})
}

func TestFSKeepsTheRules(t *testing.T) {
	if err := fstest.TestFS(New(time.Minute).FS(fstest.MapFS{"a/b": {Data: []byte("one")}, "c": {}}, new(Mount)), "a/b", "c"); err != nil {
		t.Error(err)
	}
}
