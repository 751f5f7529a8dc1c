package report

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"gprof/chunks/folder"
	"gprof/chunks/kept"
	"gprof/cmd/internal/human"
	"gprof/stream/wording"
)

// keptSummary is what the triggers of a session kept.
type keptSummary struct {
	Session string     `json:"session,omitempty"` // its directory; missing if values are redacted
	Files   []keptFile `json:"files"`             // the oldest first
	Bytes   int64      `json:"bytes"`             // on the disk
	Gone    int64      `json:"made_room"`         // older files, for later ones
	Err     string     `json:"error,omitempty"`   // why not all is known
}

type keptFile struct {
	Name     string    `json:"name"`
	Time     time.Time `json:"time"`
	Instance string    `json:"instance"` // of the process whose trigger it was
	Bytes    int64     `json:"bytes"`
	Rule     string    `json:"rule,omitempty"` // if its process says so
}

// keptIn is what triggers kept in the sessions of some directories, by rules that are known by their text.
func keptIn(dirs, rules []string, redacted bool) (all []*keptSummary) {
	byNumber := map[uint32]string{}
	for _, text := range slices.Sorted(slices.Values(rules)) { // two might have one number
		byNumber[kept.RuleOf(text)] = text
	}
	sessions := slices.Clone(dirs)
	for i, dir := range sessions {
		if filepath.Base(dir) == kept.DirName {
			sessions[i] = filepath.Dir(dir)
		}
	}
	slices.Sort(sessions)
	for _, session := range slices.Compact(sessions) {
		if k := newKeptSummary(session, byNumber); len(k.Files) > 0 || k.Gone > 0 || k.Err != "" {
			if redacted {
				k.Session, k.Err = "", human.OnlyIf(k.Err != "", "can't be read")
			}
			all = append(all, k)
		}
	}
	return all
}

func newKeptSummary(session string, rules map[uint32]string) *keptSummary {
	k := &keptSummary{Session: session, Files: []keptFile{}}
	files, err := kept.List(session)
	for _, f := range files {
		k.Files = append(k.Files, keptFile{f.Name(), f.Time, folder.InstanceName(f.Instance), f.Size, rules[f.Rule]})
		k.Bytes += f.Size
	}
	gone, err2 := kept.Displaced(session)
	k.Gone = gone
	if err = cmp.Or(err, err2); err != nil {
		k.Err = err.Error()
	}
	return k
}

func (k *keptSummary) print(out io.Writer) {
	fmt.Fprintf(out, "\nkept by triggers%s: %s, %s", human.OnlyIf(k.Session != "", " in "+wording.Printable(filepath.Join(k.Session, kept.DirName))), human.Plural(len(k.Files), "file"), human.Bytes(k.Bytes))
	if k.Gone > 0 {
		fmt.Fprintf(out, "; %s made room for later ones", human.Plural(int(k.Gone), "older file"))
	}
	fmt.Fprintln(out, human.OnlyIf(k.Err != "", "; "+wording.Printable(k.Err)))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, f := range k.Files {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", f.Name, human.Bytes(f.Bytes), human.CutFront(wording.Printable(human.OrDash(f.Rule)), maxTrackName))
	}
	w.Flush()
}
