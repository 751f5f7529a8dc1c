package recorder_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gprof/chunks"
	"gprof/chunks/mapping"
	"gprof/rawformat"
	"gprof/recorder"
)

// overwrite writes a word into a file of a recording. Files come and go meanwhile.
func overwrite(name string, at int64, v uint64) {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	f.WriteAt(binary.LittleEndian.AppendUint64(nil, v), at) // an error does not matter here
}

// An impossible commit word is written into each chunk from outside. The recording goes on and
// loses nothing, because writers and the sealer keep their own positions.
func TestHostileCommit(t *testing.T) {
	rec := begin(t, recorder.Options{})
	for _, commit := range []uint64{1 << 20, 1<<32 - 1, 1<<64 - 1} {
		for n := range 500 {
			acked.Mark(n, "abc")
		}
		names, _ := filepath.Glob(filepath.Join(rec.Dir(), "chunk-*"))
		if len(names) == 0 {
			t.Fatal("no chunks")
		}
		for _, name := range names {
			overwrite(name, rawformat.OffCommit, commit)
		}
		if _, err := rec.Snapshot(t.TempDir(), 0); err != nil { // so the keeper has had a round
			t.Fatal(err)
		}
	}
	if r := finish(t, rec); len(r.of("acked")) != 1500 {
		t.Errorf("%d markers, want 1500", len(r.of("acked")))
	}
}

// attack is one write into a file of a running recorder: into which file, where, and what. It
// is encoded in 12 bytes.
type attack struct {
	file, how byte
	at        uint16
	value     uint64
}

// Kinds of attacks.
const (
	toHead     = iota // a word of the first 512 bytes
	toSlot            // a word behind the first page
	anywhere          // a word of the whole file
	cutShort          // the file gets shorter
	flipBit           // one bit of the whole file
	grow              // the file gets longer, by zeros
	stranger          // a file of that name appears in a directory that another version may have made
	numAttacks = iota
)

func (a attack) on(name string) {
	switch a.how % numAttacks {
	case toHead:
		overwrite(name, int64(a.at%64)*8, a.value)
	case toSlot:
		overwrite(name, rawformat.PageSize+int64(a.at%512)*8, a.value)
	case anywhere:
		if info, err := os.Stat(name); err == nil && info.Size() > 8 {
			overwrite(name, int64(a.at)*8%(info.Size()-7), a.value)
		}
	case cutShort:
		if info, err := os.Stat(name); err == nil {
			os.Truncate(name, min(info.Size(), int64(a.at)*16)) // the file may be gone
		}
	case flipBit:
		flip(name, int64(a.value%(1<<24)), byte(1<<(a.at%8)))
	case grow:
		if info, err := os.Stat(name); err == nil {
			os.Truncate(name, info.Size()+int64(a.at)*16)
		}
	case stranger:
		a.beside(name)
	}
}

// offVersion is where all files of a recording have the version of their format.
const offVersion = 4

// beside makes a file of a neighbour in the session, whose version is the attack's.
func (a attack) beside(name string) {
	dir := filepath.Join(filepath.Dir(filepath.Dir(name)), fmt.Sprintf("%016x", a.value|1))
	b, err := os.ReadFile(name)
	if err != nil {
		return
	}
	os.Mkdir(dir, 0o700) // it may be there
	if len(b) >= offVersion+2 {
		binary.LittleEndian.PutUint16(b[offVersion:], a.at)
	}
	os.WriteFile(filepath.Join(dir, filepath.Base(name)), b, 0o600) // an error does not matter here
}

// flip changes bits of a byte. It is at that offset, modulo the size.
func flip(name string, at int64, bits byte) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return
	}
	var b [1]byte
	if _, err := f.ReadAt(b[:], at%info.Size()); err == nil {
		b[0] ^= bits
		f.WriteAt(b[:], at%info.Size())
	}
}

func attacks(data []byte) (all []attack) {
	for ; len(data) >= 12 && len(all) < 200; data = data[12:] {
		all = append(all, attack{data[0], data[1], binary.LittleEndian.Uint16(data[2:]), binary.LittleEndian.Uint64(data[4:])})
	}
	return all
}

// onAll appends the same attack on many files.
func onAll(dst []byte, how byte, at int, value uint64) []byte {
	for file := range byte(24) {
		dst = binary.LittleEndian.AppendUint16(append(dst, file, how), uint16(at/8))
		dst = binary.LittleEndian.AppendUint64(dst, value)
	}
	return dst
}

// FuzzHostileFiles checks that a running recorder neither panics nor stops recording, whatever
// is written into its files, unless a fault is not caught; and that what is missing
// afterwards is told, and nothing is found that was never recorded.
func FuzzHostileFiles(f *testing.F) {
	const huge, most = 1 << 40, 1<<64 - 1
	f.Add(onAll(onAll(nil, toHead, rawformat.OffCommit, most), toHead, rawformat.OffState, most))
	f.Add(onAll(onAll(nil, toHead, rawformat.OffEpoch, huge), anywhere, rawformat.HeadSize, most))
	f.Add(onAll(onAll(nil, toHead, rawformat.OffStacksHead, huge), toHead, rawformat.OffStacksLost, huge))
	f.Add(onAll(onAll(nil, toHead, rawformat.OffStacksTail, most), toSlot, 0, 0xffff))
	f.Add(onAll(onAll(nil, toHead, rawformat.OffControlLimit, 1), toHead, rawformat.OffControlSlots, most))
	f.Add(onAll(onAll(nil, toSlot, rawformat.OffSlotRequest, most>>1), toSlot, rawformat.OffSlotHeld, most))
	f.Add(onAll(onAll(nil, toSlot, rawformat.OffSlotInstance, 0), toSlot, rawformat.SlotSize, huge))
	f.Add(onAll(onAll(nil, cutShort, 0, 0), cutShort, rawformat.PageSize, 0))
	f.Add(onAll(onAll(nil, flipBit, 8, 12345), flipBit, 16, 300))
	f.Add(onAll(onAll(nil, grow, 8<<3, 0), grow, 1<<15, 0))
	f.Add(onAll(onAll(nil, stranger, (rawformat.Version+1)*8, 5), stranger, 0, most))
	f.Fuzz(func(t *testing.T, data []byte) {
		rec := begin(t, recorder.Options{Limit: 4 << 20, CounterHz: 10})
		list := func() []string {
			names, _ := filepath.Glob(filepath.Join(rec.Dir(), "*"))
			return append(names, filepath.Join(rec.Session(), "control"))
		}
		out := t.TempDir()
		made := 0
		round := func() {
			for n := range 200 {
				acked.Mark(n, "abc")
			}
			made += 200
			rec.Snapshot(out, 1) // it may return an error; the keeper has had a round
			rec.Stats()
		}
		round()
		for n, a := range attacks(data) {
			names := list()
			a.on(names[int(a.file)%len(names)])
			if n%16 == 15 {
				round()
			}
		}
		round()
		if err := rec.Err(); err != nil && (!errors.Is(err, mapping.ErrCut) || mapping.CatchFaults() == nil) {
			t.Errorf("the recording ended: %v", err)
		}
		if err := rec.Stop(); err != nil && strings.Contains(err.Error(), "internal error") {
			t.Error(err)
		}
		countRemains(t, rec.Dir(), made)
	})
}

// countRemains reads what is left of a recording after attacks.
func countRemains(t *testing.T, dir string, made int) {
	t.Helper()
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		return // so it is told
	}
	told := len(p.Problems)
	found := 0
	blocks := p.Blocks(func(chunks.Problem) { told++ })
	for blocks.Next() {
		switch b := blocks.Block(); b.Kind {
		case rawformat.KindLost:
			told++
		case rawformat.KindInstant:
			found++
		}
	}
	if blocks.Err() != nil {
		told++
	}
	if found > made || found < made && told == 0 {
		t.Errorf("%d of %d markers are found, and %d problems are told", found, made, told)
	}
}

// cutChild records in all ways at once. It answers each line of its input with whether it is
// recording, and for the line "mark" it also makes numbered markers.
func cutChild() {
	rec := childRecorder(recorder.Options{Dir: os.Args[1], Limit: 4 << 20, CounterHz: 10})
	fmt.Println(rec.Session())
	plain := recorder.NewEvent2("plain", recorder.Int("a"), recorder.Int("b"))
	stack := recorder.NewEvent("stack", recorder.WithStack())
	label := recorder.NewLabel("label")
	ctx, cancel := context.WithCancel(context.Background())
	for i := range 3 {
		go func() {
			_, work := recorder.NewTrack(ctx, fmt.Sprint("track ", i))
			defer work.End()
			for n := 0; ctx.Err() == nil; n++ {
				scope := label.Begin()
				plain.Mark(n, i)
				stack.Mark()
				recorder.Text("text", strings.Repeat("x", n%500))
				scope.End()
			}
		}()
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if lines.Text() == "mark" {
			cancel()
			for n := range 1000 {
				acked.Mark(n, "abc")
			}
		}
		fmt.Println(rec.Recording(), rec.Err())
	}
	cancel()
	rec.Stop() // it may return an error
}

// All files of a recording are cut short, again and again, while the program records in all
// ways. The program goes on, and what it records afterwards is found; where faults are not
// caught, the recording has ended.
func TestFilesCutShort(t *testing.T) {
	cmd := child("cut", []string{t.TempDir()})
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	lines := bufio.NewReader(out)
	dir, session := line(t, lines), line(t, lines)
	ask := func(what string) (answer string) {
		fmt.Fprintln(in, what)
		return line(t, lines)
	}
	sizes := []int64{0, 100, 4096, 10000, 30000, 100000}
	for round := range 100 {
		names, _ := filepath.Glob(filepath.Join(dir, "*-*"))
		for _, name := range append(names, filepath.Join(session, "control")) {
			if info, err := os.Stat(name); err == nil {
				os.Truncate(name, min(info.Size(), sizes[rand.IntN(len(sizes))])) // the file may be gone by now
			}
		}
		if answer := ask("go on"); answer == "" {
			t.Fatalf("round %d: the program has ended", round)
		}
	}
	if mapping.CatchFaults() != nil {
		waitFor(t, "the end of the recording", func() bool { return ask("go on") == "false "+mapping.ErrCut.Error() })
	} else {
		waitFor(t, "markers that are found", func() bool {
			ask("mark")
			r := read(t, dir, chunks.Gap, chunks.Torn, chunks.Damaged, chunks.Foreign, chunks.Stale, chunks.Unproven, chunks.Unreadable, chunks.Missing)
			return len(r.of("acked")) >= 1000 && r.lost() > 0
		})
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}
