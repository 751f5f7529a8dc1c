package tables

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gprof/stream"
)

// unknown is what stands for NULL in the name of a directory, as Hive has it.
const unknown = "__HIVE_DEFAULT_PARTITION__"

// maxName bounds the escaped value in a name; file systems take 255 bytes.
const maxName = 180

// partition is the name of a directory that holds rows with that value, which
// may be any text: readers take it back as it was, unless it is very long.
func partition(column, value string) string {
	if value == "" {
		return column + "=" + unknown
	}
	return column + "=" + fileName(value)
}

// fileName is a name of a file or directory for a value.
func fileName(value string) string {
	name, whole := escape(value)
	if !whole {
		sum := sha256.Sum256([]byte(value))
		name += "~" + hex.EncodeToString(sum[:8])
	}
	return name
}

// escape writes all but plain characters as % and two digits, for each byte;
// whole is false if there was more than fits.
func escape(value string) (name string, whole bool) {
	var b strings.Builder
	for _, r := range value {
		if b.Len() > maxName {
			return b.String(), false
		}
		if r < utf8.RuneSelf && plain(byte(r)) {
			b.WriteRune(r)
			continue
		}
		for _, c := range []byte(string(r)) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String(), true
}

func plain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-_.", c) >= 0
}

// path is the name of a part's file of a table, the number-th one.
func (f *Format) path(p *part, table string, number int) string {
	extension := f.Extension
	if number > 1 {
		extension = fmt.Sprint("-", number, extension)
	}
	if f.OneFile {
		return table + extension
	}
	return table + "/" + partition("service", p.service) + "/" + partition("date", p.date) + "/" + p.name + extension
}

// noEvent is the file of markers if there are none, and of those whose event has
// no name. No other one can be called so: see escape.
const noEvent = "~none"

// eventTable is the name among the files of the table of an event's markers.
func (f *Format) eventTable(event string) string {
	switch {
	case !f.OneFile:
		return "markers/" + partition("event", event)
	case event == "":
		return "markers/" + noEvent
	}
	return "markers/" + visible(fileName(event))
}

// visible escapes what begins the names of files that patterns and readers of
// directories pass over.
func visible(name string) string {
	if strings.IndexByte("._", name[0]) >= 0 {
		return fmt.Sprintf("%%%02X", name[0]) + name[1:]
	}
	return name
}

// dateOf is the day of a time, in UTC.
func dateOf(t stream.Time) string {
	if t == 0 {
		return ""
	}
	return time.Unix(0, int64(t)).UTC().Format(time.DateOnly)
}

// serviceOf is what a process counts as: its service, else its program.
func serviceOf(p *stream.Process) string {
	if p.Service != "" {
		return p.Service
	}
	return p.Name
}

// sessionOf names a part of a run by what is in it, so that the same input gets
// the same name and another one another.
func (s *Sink) sessionOf(processes []stream.ProcessID) string {
	t, sum := s.tables, sha256.New()
	if s.among != "" {
		fmt.Fprintf(sum, "%q\n", s.among)
	}
	first := uint64(0)
	for i, id := range processes {
		p := *t.Process(id)
		if i == 0 {
			first = p.Instance
		}
		p.Parent = 0 // a number of this run
		p.Read = p.Read.Minus(s.elsewhere[p.Instance])
		fmt.Fprintf(sum, "%q\n", fmt.Sprintf("%+v", p))
		for _, line := range linesOf(s.known, instance(p.Instance)) {
			fmt.Fprintf(sum, "%q\n", fmt.Sprintf("%+v", line))
		}
	}
	fmt.Fprintln(sum, t.Stacks.Len(), t.Frames.Len(), t.Strings.Len(), len(t.Events))
	return instance(first) + "-" + hex.EncodeToString(sum.Sum(nil)[:6])
}

// linesOf are those of one process among lines of the ledger, which are in its order:
// by process first.
func linesOf(all []stream.Line, process string) []stream.Line {
	byProcess := func(l stream.Line, process string) int { return cmp.Compare(l.Process, process) }
	from, _ := slices.BinarySearchFunc(all, process, byProcess)
	n := slices.IndexFunc(all[from:], func(l stream.Line) bool { return l.Process != process })
	if n < 0 {
		return all[from:]
	}
	return all[from:][:n]
}

// instance is the name of a process.
func instance(n uint64) string { return fmt.Sprintf("%016x", n) }
