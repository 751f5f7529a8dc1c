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

// unknown stands for a missing value. Readers disagree about Hive's name for NULL.
const unknown = "unknown"

// maxName bounds an escaped value in a name; file systems allow 255 bytes.
const maxName = 180

// partition is the name of a directory for rows with that value, which may be any text. All readers
// see the same value, nearly always the original: see [fileName].
func partition(column, value string) string { return column + "=" + fileName(value) }

// fileName is a file name for a value. Some readers take %20 for a space and some don't, so special
// characters are escaped in a way that none knows; and texts that look like numbers are escaped,
// too.
func fileName(value string) string {
	if value == "" {
		return unknown
	}
	name, whole := escape(value)
	if strings.IndexByte("._ ", name[0]) >= 0 || looksTyped(value) { // hidden from patterns, or no text
		name = fmt.Sprintf("~%02X", name[0]) + name[1:]
	}
	if !whole {
		sum := sha256.Sum256([]byte(value))
		name += "~" + hex.EncodeToString(sum[:8])
	}
	return name
}

// looksTyped reports whether some reader takes a text for a number, time or Boolean.
func looksTyped(value string) bool {
	switch strings.ToLower(value) {
	case "true", "false", "null", "none", "nan", "inf", "infinity":
		return true
	}
	return strings.ContainsAny(value[:1], "0123456789+-") && strings.Trim(value, "0123456789+-_.: eETZxX") == ""
}

// escape escapes what is special to file systems, patterns or readers of directories as ~ and two
// hex digits a byte; whole is false if it was too long.
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

// path is the name of a part's number-th file of a table.
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

// eventTable is the name among the files of an event's table.
func (f *Format) eventTable(event string) string {
	if f.OneFile {
		return "typed_markers/" + fileName(event)
	}
	return "typed_markers/" + partition("event", event)
}

// dateOf is the day of a time in UTC; unknown ones are in 1970.
func dateOf(t stream.Time) string {
	return time.Unix(0, int64(t)).UTC().Format(time.DateOnly)
}

// serviceOf is the service of a process, else its program.
func serviceOf(p *stream.Process) string {
	if p.Service != "" {
		return p.Service
	}
	return p.Name
}

// sessionOf names a part by what identifies its contents, so that the same input gets the same name, and another
// one a different name.
func (s *Sink) sessionOf(processes []stream.ProcessID) string {
	t, sum := s.tables, sha256.New()
	if s.dataSet != "" {
		fmt.Fprintf(sum, "%q\n", s.dataSet)
	}
	var first stream.Process
	for i, id := range processes {
		p := *t.Process(id)
		if i == 0 {
			first = p
		}
		// All fields would give a recording another name when a later version knows more of it.
		fmt.Fprintf(sum, "%d %d %q %q %q %q %q %d %d %d %+v\n", p.Instance, p.Twin, p.Name, p.Service, p.Host, p.Args, p.Attrs, p.Start, p.End, p.RangeStart, p.Read)
		for _, line := range linesOf(s.known, p.InstanceName()) {
			fmt.Fprintf(sum, "%q\n", fmt.Sprintf("%+v", line))
		}
	}
	fmt.Fprintln(sum, t.Stacks.Len(), t.Frames.Len(), t.Strings.Len(), len(t.Events))
	return first.InstanceName() + "-" + hex.EncodeToString(sum.Sum(nil)[:6])
}

// linesOf are one process's lines of the ledger, which is sorted by process first.
func linesOf(all []stream.Line, process string) []stream.Line {
	byProcess := func(l stream.Line, process string) int { return cmp.Compare(l.Process, process) }
	from, _ := slices.BinarySearchFunc(all, process, byProcess)
	n := slices.IndexFunc(all[from:], func(l stream.Line) bool { return l.Process != process })
	if n < 0 {
		return all[from:]
	}
	return all[from:][:n]
}
