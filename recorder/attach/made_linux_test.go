package attach

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gprof/recorder/internal/modules"
)

// listsIn are the lists of a process whose file system begins at a folder, as in a container, where it has
// pid 7.
func listsIn(t *testing.T) (l *lists, tmp string) {
	t.Helper()
	dir := t.TempDir()
	tmp = filepath.Join(dir, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return &lists{root: root, owner: uint32(os.Geteuid()), inner: 7}, tmp
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (l *lists) at(address uint64) string {
	if f, ok := l.text.functions.At(address); ok {
		return f.Name
	}
	return ""
}

// A list is read as it grows, line by line, and anew when it is another one.
func TestListGrows(t *testing.T) {
	l, tmp := listsIn(t)
	file := filepath.Join(tmp, "perf-7.map")
	if l.refresh(nil) {
		t.Error("there is no list")
	}
	for _, step := range []struct {
		text string
		news bool
		want string
	}{
		{"1000 10 a\n1010 1", true, "a,,"},
		{"1000 10 a\n1010 10 b", false, "a,,"},
		{"1000 10 a\n1010 10 b\nodd\n1020 10 c\n", true, "a,b,c"},
		{"1000 10 a\n1010 10 b\nodd\n1020 10 c\n", false, "a,b,c"},
		{"1000 20 x\n", true, "x,x,"},
	} {
		write(t, file, step.text)
		if news := l.refresh(nil); news != step.news {
			t.Errorf("%q: news %v", step.text, news)
		}
		if got := fmt.Sprintf("%s,%s,%s", l.at(0x1000), l.at(0x1010), l.at(0x1020)); got != step.want {
			t.Errorf("%q: %s, want %s", step.text, got, step.want)
		}
	}
}

// A process that puts something else in the place of its list neither stops the sampler nor makes
// it read the files of others.
func TestListOfAnother(t *testing.T) {
	const text = "1000 10 a\n"
	l, tmp := listsIn(t)
	file, elsewhere := filepath.Join(tmp, "perf-7.map"), filepath.Join(t.TempDir(), "list")
	write(t, elsewhere, text)
	for name, put := range map[string]func() error{
		"a pipe":                 func() error { return unix.Mkfifo(file, 0o600) },
		"a folder":               func() error { return os.Mkdir(file, 0o700) },
		"a link out of its root": func() error { return os.Symlink(elsewhere, file) },
		"a link up":              func() error { return os.Symlink("../../../../../.."+elsewhere, file) },
		"one of before it began": func() error { l.began = time.Now().Add(time.Hour); return os.WriteFile(file, []byte(text), 0o600) },
		"one of somebody else":   func() error { l.owner++; return os.WriteFile(file, []byte(text), 0o600) },
	} {
		l.began, l.owner = time.Time{}, uint32(os.Geteuid())
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if l.refresh(nil) && (name != "one of somebody else" || os.Geteuid() != 0) { // root's are everybody's
			t.Errorf("%s is read", name)
		}
		os.Remove(file)
		l.text = list{}
	}
	l.began, l.owner = time.Time{}, uint32(os.Geteuid())
	write(t, file, text)
	if !l.refresh(nil) || l.at(0x1008) != "a" {
		t.Error("its own list is not read")
	}
}

// A jitdump is where the process has mapped it.
func TestDumpIsMapped(t *testing.T) {
	l, tmp := listsIn(t)
	dump := "DTiJ\x01\x00\x00\x00\x28\x00\x00\x00" + string(make([]byte, 28)) // its header
	entry := "\x00\x00\x00\x00\x3a\x00\x00\x00" + string(make([]byte, 8+16)) + "\x00\x10\x00\x00\x00\x00\x00\x00"
	write(t, filepath.Join(tmp, "jit-9.dump"), dump+entry)
	mapped := []modules.Module{{Path: "/bin/x"}, {Path: "/tmp/jit-9.dump"}}
	if l.refresh(mapped) {
		t.Error("half an entry is a function")
	}
	entry += "\x10" + string(make([]byte, 7)) + string(make([]byte, 8)) + "f\x00"
	write(t, filepath.Join(tmp, "jit-9.dump"), dump+entry)
	if l.refresh(mapped[:1]) || !l.refresh(mapped) || l.dump.functions.Len() != 1 {
		t.Errorf("%d functions", l.dump.functions.Len())
	}
	if f, ok := l.dump.functions.At(0x100f); !ok || f.Name != "f" {
		t.Errorf("%v %+v", ok, f)
	}
}

func TestBegan(t *testing.T) {
	if age := time.Since(beganAt(int32(os.Getpid()))); age < -time.Second || age > time.Hour {
		t.Errorf("this process is %v old", age)
	}
	if at := beganAt(1<<31 - 1); !at.IsZero() {
		t.Errorf("one that isn't began at %v", at)
	}
}

// A list means the same in whatever pieces it is read.
func FuzzList(f *testing.F) {
	f.Add([]byte("1000 10 a\n1010 10 b\nodd\n1020 10 c\n"), 5, false)
	f.Fuzz(func(t *testing.T, b []byte, size int, dump bool) {
		path := "/tmp/perf-7.map"
		if dump {
			path = "/tmp/jit-7.dump"
		}
		var whole, pieces list
		whole.take(bytes.Clone(b), path)
		for rest := b; len(rest) > 0; {
			n := min(len(rest), 1+max(size, 0)%1000)
			if !pieces.take(rest[:n], path) {
				break
			}
			rest = rest[n:]
		}
		if whole.functions.Len() != pieces.functions.Len() {
			t.Errorf("%d functions, in pieces %d", whole.functions.Len(), pieces.functions.Len())
		}
	})
}
