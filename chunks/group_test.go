package chunks

import (
	"errors"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"

	"gprof/rawformat"
)

var errHangs = errors.New("hangs")

// groups is a Grouper that nothing else opens files of. From a group on it hangs: what that group does comes after Group has
// returned.
type groups struct {
	fstest.MapFS
	done  int
	hangs int // 0: never
	late  []func()
}

func (g *groups) Open(string) (fs.File, error) { return nil, errors.New("outside of a group") }

func (g *groups) Group(op func(fs.FS)) error {
	if g.done++; g.hangs > 0 && g.done >= g.hangs {
		g.late = append(g.late, func() { op(g.MapFS) })
		return errHangs
	}
	op(g.MapFS)
	return nil
}

// comeBack has the operations that hang go on.
func (g *groups) comeBack() {
	for _, op := range g.late {
		op()
	}
	g.late, g.hangs = nil, 0
}

func grouping() *groups {
	files, _ := four()
	files["dict-001"], _ = dictFile(4)
	files["meta"] = testRecords(rawformat.MagicMeta, 0)
	return &groups{MapFS: dirOf(files)}
}

// read returns the texts of all blocks.
func readTexts(p *Process, report func(Problem)) (texts []string) {
	for r := p.Blocks(report); r.Next(); {
		f := r.Block().Fields
		texts = append(texts, string(f.Bytes(f.Len(), "")))
	}
	return texts
}

// Opening a process is one group, and each chunk or dictionary that is read is another.
func TestGroups(t *testing.T) {
	g := grouping()
	p := mustOpen(t, g)
	if g.done != 1 || len(p.Problems) > 0 {
		t.Errorf("%d groups, problems %v", g.done, p.Problems)
	}
	if n := len(p.Dicts[0].All(nil)); g.done != 2 || n != 4 {
		t.Errorf("%d groups, %d records", g.done, n)
	}
	want := readTexts(mustOpen(t, g.MapFS), nil)
	if got := readTexts(p, nil); g.done != 2+4 || !slices.Equal(got, want) {
		t.Errorf("%d groups, %d of %d blocks", g.done, len(got), len(want))
	}
}

// What hangs is unreadable, and when it comes back it touches nothing of what was read since.
func TestGroupHangs(t *testing.T) {
	g := grouping()
	g.hangs = 1
	if _, err := OpenProcess(g, "p"); err != errHangs {
		t.Errorf("opening: %v", err)
	}
	g.comeBack()
	p := mustOpen(t, g)
	want := readTexts(p, nil)

	g.hangs = g.done + 2
	var problems []Problem
	r := NewReader(p.Images(), func(pr Problem) { problems = append(problems, pr) })
	for r.Next() {
	}
	if !errors.Is(r.Err(), errHangs) || len(problems) != 3 || problems[0].Class != Unreadable || problems[0].Bytes == 0 {
		t.Errorf("chunks: %v, problems %v", r.Err(), problems)
	}
	late := g.late
	g.late, g.hangs = nil, 0
	r.Reset(p.Images(), nil)
	var got []string
	for r.Next() {
		for _, op := range late { // into the buffers that it had
			op()
		}
		f := r.Block().Fields
		got = append(got, string(f.Bytes(f.Len(), "")))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d of %d blocks are the same", len(got), len(want))
	}

	g.hangs = g.done + 1
	var dict Records
	problems = nil
	if dict.Reset(p.Dicts[0], func(pr Problem) { problems = append(problems, pr) }); dict.Next() || len(problems) != 1 || problems[0].Class != Unreadable {
		t.Errorf("dictionary: problems %v", problems)
	}
}
