package tables

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gprof/stream"
)

// unknown stands for a value that there is none of. Readers do not agree about
// Hive's name for NULL.
const unknown = "unknown"

// maxName bounds the escaped value in a name; file systems take 255 bytes.
const maxName = 180

// partition is the name of a directory that holds rows with that value, which
// may be any text. All readers see the same one in it, and nearly always the
// value itself: see [fileName].
func partition(column, value string) string { return column + "=" + fileName(value) }

// fileName is a name of a file or directory for a value. Of readers some take %20
// for a space and some do not, so what cannot stand in a name is escaped in a way
// that none knows; and a text stays one if nobody can take it for a number.
func fileName(value string) string {
	if value == "" {
		return unknown
	}
	name, whole := escape(value)
	if strings.IndexByte("._ ", name[0]) >= 0 || typed(value) { // hidden from patterns, or no text
		name = fmt.Sprintf("~%02X", name[0]) + name[1:]
	}
	if !whole {
		sum := sha256.Sum256([]byte(value))
		name += "~" + hex.EncodeToString(sum[:8])
	}
	return name
}

// typed reports whether some reader takes a text for a number, a time or a truth value.
func typed(value string) bool {
	switch strings.ToLower(value) {
	case "true", "false", "null", "none", "nan", "inf", "infinity":
		return true
	}
	return strings.ContainsAny(value[:1], "0123456789+-") && strings.Trim(value, "0123456789+-_.: eETZxX") == ""
}

// escape writes what file systems, patterns or readers of directories take for
// something else as ~ and two digits, for each byte; whole is false if there was
// more than fits.
func escape(value string) (name string, whole bool) {
	var b strings.Builder
	for _, r := range value {
		if b.Len() > maxName {
			return b.String(), false
		}
		if plain(r) {
			b.WriteRune(r)
			continue
		}
		for _, c := range []byte(string(r)) {
			fmt.Fprintf(&b, "~%02X", c)
		}
	}
	return b.String(), true
}

func plain(r rune) bool {
	return unicode.IsPrint(r) && r != utf8.RuneError && !strings.ContainsRune(`~%/\=:*?"'<>|{}[]#^$&;!`+"`", r)
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
	return table + "/" + partition("service", p.service) + "/" + "date=" + p.date + "/" + p.name + extension
}

// eventTable is the name among the files of the table of an event's markers.
func (f *Format) eventTable(event string) string {
	if f.OneFile {
		return "typed_markers/" + fileName(event)
	}
	return "typed_markers/" + partition("event", event)
}

// dateOf is the day of a time, in UTC: that of one which is not known is in 1970.
func dateOf(t stream.Time) string {
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
