package symbols

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"

	"gprof/rawformat/jitcode"
)

// madeBy is the process that wrote a list of code that it made, by the list's name.
func madeBy(name string) (pid int32, ok bool) {
	if pid, ok = jitcode.OfMapName(filepath.Base(name)); ok {
		return pid, true
	}
	return jitcode.OfDumpName(filepath.Base(name))
}

// openMade reads such a list.
func openMade(name string) (*program, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, ok := jitcode.OfDumpName(filepath.Base(name)); ok {
		return readDump(io.LimitReader(f, maxDump))
	}
	return readPerfMap(io.LimitReader(f, maxTable))
}

// maxDump bounds what is read of a jitdump, which has the code as well.
const maxDump = 16 << 30

func readDump(r io.Reader) (*program, error) {
	l := &jitcode.List{}
	d := jitcode.Dump{Into: l}
	_, err := io.CopyBuffer(&d, struct{ io.Reader }{r}, make([]byte, 256<<10))
	if errors.Is(err, io.ErrShortBuffer) {
		err = nil // the rest is not named
	}
	return &program{made: l}, err
}

// readPerfMap reads a list as text. Malformed lines are ignored.
func readPerfMap(r io.Reader) (*program, error) {
	l := &jitcode.List{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, jitcode.MaxLine)
	for lines.Scan() {
		if f, ok := jitcode.ParseLine(lines.Text()); ok && !l.Add(f) {
			break
		}
	}
	return &program{made: l}, lines.Err()
}

// madeAt is the function at an address of code that a process made.
func madeAt(l *jitcode.List, address uint64) []Function {
	f, ok := l.At(address)
	if !ok {
		return nil
	}
	file, line := f.Place(address)
	return []Function{{Name: f.Name, File: file, Line: line}}
}
