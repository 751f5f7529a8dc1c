package fleet

import (
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gprof/cmd/internal/store"
)

// watched is a place that fails after some changes, and looks at each.
type watched struct {
	store.Place
	mu   sync.Mutex
	left int
	look func()
}

var errStopped = errors.New("stopped")

func (w *watched) change(do func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left == 0 {
		return errStopped
	}
	w.left--
	err := do()
	w.look()
	return err
}

func (w *watched) Remove(name string) error {
	return w.change(func() error { return w.Place.Remove(name) })
}

func (w *watched) Move(from, to string) error {
	return w.change(func() error { return w.Place.Move(from, to) })
}

// A commit that takes the place of files is killed at each step: readers that take all files of a
// table never see what it replaces beside what is new, and the next one ends what it had begun.
func TestSettleIsResumed(t *testing.T) {
	const old, made = "samples/day/old.parquet", "samples/day/new.parquet"
	files := func(names ...string) (all []file) {
		for _, name := range names {
			all = append(all, file{Name: name})
		}
		return all
	}
	first := &commit{Version: version, Number: 1, Plan: "a", Files: files(old, "samples/day/other-old.parquet", "stacks/day/old.parquet", "stacks/day/stays.parquet")}
	second := &commit{Version: version, Number: 2, Plan: "b", Files: files(made, "stacks/day/new.parquet", "waits/day/new.parquet", "stacks/day/stays.parquet")}
	for steps := 0; ; steps++ {
		dir := t.TempDir()
		disk, err := new(store.Stores).Place(dir, unfinished, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []*commit{first, second} {
			text, err := json.Marshal(c)
			if err = errors.Join(err, disk.Create(commitName(c.Number), text)); err != nil {
				t.Fatal(err)
			}
			for _, f := range c.Files {
				name := f.Name
				if c == second && !strings.Contains(name, "stays") {
					name = asideName("b", name)
				}
				if err := disk.Create(name, []byte(f.Name)); err != nil && !errors.Is(err, os.ErrExist) {
					t.Fatal(err)
				}
			}
		}
		at := &watched{Place: disk, left: steps, look: func() {
			for _, table := range []string{"samples", "stacks"} {
				names, _ := filepath.Glob(filepath.Join(dir, table, "day", "*"))
				seen := strings.Join(names, " ")
				if strings.Contains(seen, "old.parquet") && strings.Contains(seen, "new.parquet") {
					t.Errorf("after %d steps: %s", steps, seen)
				}
			}
		}}
		err = settle(at, second)
		if err != nil && !errors.Is(err, errStopped) {
			t.Fatal(err)
		}
		stopped := err != nil
		at.left = 100
		if err := errors.Join(resume(at, second), settle(at, second)); err != nil { // begin, and the next commit
			t.Fatal(err)
		}
		for _, f := range second.Files {
			if text, err := disk.Read(f.Name); err != nil || string(text) != f.Name {
				t.Errorf("after %d steps: %s: %q, %v", steps, f.Name, text, err)
			}
		}
		for _, f := range first.Files {
			if _, err := disk.Size(f.Name); err == nil && path.Base(f.Name) != "stays.parquet" {
				t.Errorf("after %d steps: %s is still there", steps, f.Name)
			}
		}
		if !stopped {
			if steps < 5 {
				t.Errorf("%d steps", steps)
			}
			return
		}
	}
}
