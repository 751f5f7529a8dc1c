package conversion

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gprof/cmd/internal/human"
	"gprof/stream"
	"gprof/stream/split"
)

// partNames names the files of parts, by a pattern with placeholders for what the part is
// about.
type partNames struct {
	pattern string
	by      string
	taken   map[string]bool // in lower case, because some file systems ignore case
}

// of names the file of a part. If parts get the same name, because a name can't have
// certain letters, the second one ends with ~2.
func (n *partNames) of(p split.Part) string {
	words := wordsOf(p, n.by)
	for count := 1; ; count++ {
		number := ""
		if count > 1 {
			number = fmt.Sprint("~", count)
		}
		name := n.name(words, number)
		if key := strings.ToLower(name); !n.taken[key] {
			n.taken[key] = true
			return name
		}
	}
}

// name fills in the pattern; number is appended to the word that tells parts apart.
func (n *partNames) name(words map[string]string, number string) string {
	var pairs []string
	for _, word := range placeholders[n.by] {
		pairs = append(pairs, word, words[word]+number)
		number = human.OnlyIf(n.by == "process", number) // either name of the process may be in the pattern
	}
	return filepath.Clean(strings.NewReplacer(pairs...).Replace(n.pattern))
}

// wordsOf are the values of placeholders.
func wordsOf(p split.Part, by string) map[string]string {
	if p.Process == nil {
		return map[string]string{"{interval}": utcName(p.From, p.To-p.From)}
	}
	process := p.Process.Words()
	for i, word := range process {
		process[i] = fileWord(word)
	}
	words := map[string]string{
		"{instance}": p.Process.InstanceName(),
		"{service}":  process[0],
		"{process}":  strings.Join(process, "-"),
	}
	if by == "track" {
		words["{track}"] = "no track" // counters, and other rows of the process as a whole
		if p.Track != nil {
			words["{track}"] = fileWord(cmp.Or(p.Track.Name, "main"))
		}
	}
	return words
}

// utcName is the beginning of an interval in file names: in UTC. All names for one length
// have the same form, so that they sort by time.
func utcName(t, every stream.Time) string {
	at := time.Unix(0, int64(t)).UTC()
	if every%stream.Time(time.Second) == 0 {
		return at.Format("20060102T150405Z")
	}
	return at.Format("20060102T150405.000Z")
}

// maxWord is the most bytes of a name of a recording in a file name: several fit into the
// 255 that file systems allow.
const maxWord = 80

// fileWord turns a name of a recording into one that is valid in a file name on any
// system, and neither leads to another directory nor hides the file.
func fileWord(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r == utf8.RuneError || !unicode.IsPrint(r) || strings.ContainsRune(`/\:*?"<>|{}~`, r) {
			r = '_'
		}
		if b.Len()+utf8.RuneLen(r) > maxWord {
			break
		}
		b.WriteRune(r)
	}
	word := strings.TrimRight(b.String(), " .")
	if word == "" || strings.HasPrefix(word, ".") || strings.HasPrefix(word, "-") || reserved[strings.ToUpper(word)] {
		word = "_" + word
	}
	return word
}

// reserved are the names of devices on Windows.
var reserved = map[string]bool{
	"CON": true, "PRN": true, "AUX": true, "NUL": true,
	"COM1": true, "COM2": true, "COM3": true, "COM4": true, "LPT1": true, "LPT2": true, "LPT3": true,
}

// placeholders are those that the name of a file may have. For each way to split, those
// that tell its parts apart come first.
var placeholders = map[string][]string{
	"":         nil,
	"process":  {"{process}", "{instance}", "{service}"},
	"track":    {"{track}", "{process}", "{instance}", "{service}"},
	"interval": {"{interval}"},
}
