package chunks

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gprof/rawformat"
)

// dictFile is a dictionary of n strings of different lengths, and the offsets
// of its records.
func dictFile(n int) (file []byte, offs []int) {
	var bodies [][]byte
	for i := range n {
		bodies = append(bodies, stringBody(uint64(i+1), strings.Repeat("s", i*23)))
	}
	for i := range n + 1 {
		offs = append(offs, len(testRecords(rawformat.MagicDict, 1, bodies[:i]...)))
	}
	return testRecords(rawformat.MagicDict, 1, bodies...), offs
}

// readDict opens a dictionary beside an unused chunk.
func readDict(t testing.TB, file []byte) ([]Record, []Problem) {
	t.Helper()
	p := mustOpen(t, dirOf(map[string][]byte{"dict-001": file, "meta": testRecords(rawformat.MagicMeta, 0)}))
	problems := p.Problems
	if len(p.Dicts) == 0 {
		return nil, problems
	}
	records := p.Dicts[0].All(func(pr Problem) { problems = append(problems, pr) })
	return records, problems
}

// idsOf returns the ids of string definitions, and checks that these are as they were
// written.
func idsOf(t testing.TB, records []Record) (ids []int) {
	t.Helper()
	for _, r := range records {
		c := r.Fields()
		id, text := int(c.Uint("id")), string(c.Text("text"))
		if r.Kind != rawformat.KindDefString || text != strings.Repeat("s", (id-1)*23) || c.Err() != nil {
			t.Fatalf("invented record %d %q", id, text)
		}
		ids = append(ids, id)
	}
	return ids
}

func TestCutDict(t *testing.T) {
	file, offs := dictFile(12)
	for n := range file {
		records, problems := readDict(t, file[:n])
		whole, exact := slices.BinarySearch(offs, n)
		if !exact {
			whole--
		}
		if whole = max(whole, 0); len(idsOf(t, records)) != whole {
			t.Fatalf("cut at %d: %d records, want %d", n, len(records), whole)
		}
		switch {
		case exact && len(problems) > 0 || !exact && len(problems) != 1:
			t.Fatalf("cut at %d: %v", n, problems)
		case !exact && n >= rawformat.RecordHeaderSize:
			want := Problem{Torn, fmt.Sprintf("dict-001 offset %d", offs[whole]), problems[0].What, 1, int64(n - offs[whole])}
			if problems[0] != want {
				t.Fatalf("cut at %d: %v, want %v", n, problems, want)
			}
		}
	}
}

// A flipped bit costs the record that contains it and no other, even if it is in the
// length.
func TestFlipDict(t *testing.T) {
	file, offs := dictFile(12)
	for off := range file {
		for bit := range 8 {
			file[off] ^= 1 << bit
			records, problems := readDict(t, file)
			file[off] ^= 1 << bit
			if off >= rawformat.RecordHeaderSize-4 && off < rawformat.RecordHeaderSize {
				continue // nothing depends on them
			}
			ids := idsOf(t, records)
			hit, exact := slices.BinarySearch(offs, off)
			if !exact {
				hit--
			}
			want := 11
			if off < rawformat.RecordHeaderSize {
				want = 0
			}
			if len(ids) != want || slices.Contains(ids, hit+1) || len(problems) != 1 {
				t.Fatalf("byte %d bit %d: records %v, %v", off, bit, ids, problems)
			}
			if p := problems[0]; want > 0 && p.Where != fmt.Sprintf("dict-001 offset %d", offs[hit]) {
				t.Fatalf("byte %d bit %d: %v", off, bit, p)
			}
		}
	}
}

// Several bad records in a row are skipped, too.
func TestDamagedStretch(t *testing.T) {
	file, offs := dictFile(12)
	for i := offs[3]; i < offs[6]; i++ {
		file[i] = 0xa5
	}
	records, problems := readDict(t, file)
	if ids := idsOf(t, records); !slices.Equal(ids, []int{1, 2, 3, 7, 8, 9, 10, 11, 12}) {
		t.Errorf("records %v", ids)
	}
	if len(problems) != 1 || problems[0].Bytes != int64(offs[6]-offs[3]) || problems[0].Blocks != -1 || problems[0].Class != Damaged {
		t.Errorf("problems %v", problems)
	}
}

// Searching a hostile file comes to an end.
func TestSearchIsBounded(t *testing.T) {
	body := bytes.Repeat([]byte{0xff, 0xff, 0x3f, byte(rawformat.KindDefString)}, 1<<20)
	file := append(testRecords(rawformat.MagicDict, 1, stringBody(1, "")), body...)
	records, problems := readDict(t, file)
	if len(idsOf(t, records)) != 1 || !hasClass(problems, Damaged, Torn) {
		t.Errorf("%d records, %d problems", len(records), len(problems))
	}
}

// Of two dictionaries of one generation the longer one counts.
func TestDuplicateDict(t *testing.T) {
	short, _ := dictFile(3)
	long, _ := dictFile(5)
	p := mustOpen(t, dirOf(map[string][]byte{"dict-001": short, "dict-002": long}))
	if len(p.Dicts) != 1 || len(p.Dicts[0].All(nil)) != 5 || len(p.Problems) != 1 || p.Problems[0].Class != Duplicate || p.Problems[0].Blocks != 3 {
		t.Errorf("%v", p.Problems)
	}
}

// A dictionary that was removed after its process was opened has no records. It goes after
// the chunks that need it, so it is given back as they are.
func TestDictIsGone(t *testing.T) {
	file, _ := dictFile(3)
	files := dirOf(map[string][]byte{"dict-001": file, "meta": testRecords(rawformat.MagicMeta, 0)})
	d := mustOpen(t, files).Dicts[0]
	delete(files, d.Name)
	var problems []Problem
	if records := d.All(func(pr Problem) { problems = append(problems, pr) }); len(records) != 0 || len(problems) != 1 || !hasClass(problems, Stale) {
		t.Errorf("%d records, %v", len(records), problems)
	}
}
