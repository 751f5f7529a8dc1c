// Package session shows and controls a session that is being recorded: its processes, how
// much they hold of their common limit, and their commands.
package session

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"gprof/chunks"
	"gprof/chunks/session"
	"gprof/rawformat"
	"gprof/stream"
	"gprof/stream/wording"
)

// State is a session at one moment.
type State struct {
	Session   string     `json:"session"`
	State     string     `json:"state"` // by its last command: recording, paused, stopped
	Limit     int64      `json:"limit"` // bytes, for all processes; 0 without a control page
	Held      int64      `json:"held"`  // bytes of all processes
	Processes []*Process `json:"processes"`
}

// Process is one instance of a session.
type Process struct {
	Instance string     `json:"instance"`
	Service  string     `json:"service,omitempty"`
	Pid      uint32     `json:"pid"` // in its own pid namespace
	Alive    bool       `json:"alive"`
	State    string     `json:"state"`           // recording, paused, stopped; or how it ended
	Ended    *time.Time `json:"ended,omitempty"` // if it is known
	Obeyed   bool       `json:"obeyed"`          // is alive, and has obeyed the last command
	Alone    bool       `json:"alone"`           // isn't in the session's account
	Held     int64      `json:"held"`            // bytes
	Reach    float64    `json:"reach_seconds"`   // from the oldest chunk after all that were discarded until now, or its end

	start int64
}

// Look reads the control page and all instance directories. Directories that go meanwhile
// are left out; without that of the session there is an error.
func Look(session string) (*State, error) {
	v := &State{Session: session, State: stateAfter(rawformat.CommandStart), Processes: []*Process{}}
	told, err := readSession(session)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(session); err != nil {
		return nil, err
	}
	if told != nil {
		v.Limit, v.State = told.Limit, stateAfter(told.Command)
	}
	for _, dir := range Processes(session) {
		if p := v.instance(dir, told); p != nil {
			v.Held += p.Held
			v.Processes = append(v.Processes, p)
		}
	}
	slices.SortFunc(v.Processes, func(a, b *Process) int {
		return cmp.Or(cmp.Compare(b.rank(), a.rank()), cmp.Compare(a.start, b.start), cmp.Compare(a.Instance, b.Instance))
	})
	return v, nil
}

// readSession returns nil if the session has no control page.
func readSession(dir string) (*session.Status, error) {
	s, err := session.Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return s, err
}

// instance reads one directory; nil if it is no recording.
func (v *State) instance(dir string, told *session.Status) *Process {
	r, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		return nil
	}
	p := &Process{Instance: filepath.Base(dir), Pid: r.Pid, Alive: session.Alive(dir), Alone: true, State: v.State, Held: onDisk(dir)}
	for _, m := range r.Meta {
		switch m.Key {
		case rawformat.MetaService:
			p.Service = m.Value
		case rawformat.MetaStartReal:
			p.start, _ = strconv.ParseInt(m.Value, 10, 64) // 0 if it is unknown
		}
	}
	if s := standing(told, r.Instance); s != nil {
		p.Alive = p.Alive && s.Alive // the lock of a dead process may be held by one that writes its exit
		p.Alone, p.Obeyed = false, p.Alive && s.Obeyed >= told.Generation
	}
	if !p.Alive {
		p.end(r)
	}
	p.reach(r)
	return p
}

// standing is the slot of an instance, nil if it has none.
func standing(s *session.Status, instance uint64) *session.Standing {
	if s == nil {
		return nil
	}
	i := slices.IndexFunc(s.Slots, func(x session.Standing) bool { return x.Instance == instance })
	if i < 0 {
		return nil
	}
	return &s.Slots[i]
}

// end finds out how a process ended, and when: at its last sign of life, if nothing else
// is known.
func (p *Process) end(r *chunks.Process) {
	p.State = End(r)
	if r.Exit == nil {
		p.ended(r.LastCommit().Realtime)
		return
	}
	p.ended(r.Exit.Realtime)
	if r.Removed() {
		p.State = "made way for newer recordings; " + p.State
	}
}

// End says how a process of the session ended, in the words of gprof-convert info. This is no copy of one that went on.
func End(r *chunks.Process) string {
	e := stream.Exit{Known: true, Reason: wording.Unseen}
	if r.Exit != nil {
		e = stream.Exit{Known: true, Reason: reason(r.Exit.Reason), Code: r.Exit.Code}
	}
	word, how := wording.End(e, slices.ContainsFunc(r.Meta, func(m chunks.Meta) bool { return m.Key == rawformat.MetaGo }))
	return word + how
}

func reason(r rawformat.ExitReason) string {
	if int(r) < len(rawformat.ExitReasons) {
		return rawformat.ExitReasons[r]
	}
	return fmt.Sprintf("ended, reason %d", r)
}

func (p *Process) ended(realtime int64) {
	if realtime > 0 {
		t := time.Unix(0, realtime)
		p.Ended = &t
	}
}

// reach finds out the time from the opening of the oldest chunk, of those that are younger than all that were discarded, until
// the end, or now.
func (p *Process) reach(r *chunks.Process) {
	oldest, until := int64(0), time.Now()
	for _, im := range r.Chunks {
		if t := im.Header.Open.Realtime; t > 0 && (oldest == 0 || t < oldest) {
			oldest = t
		}
	}
	if im := r.AfterDiscards(); im != nil {
		oldest = max(oldest, im.Header.Open.Realtime)
	}
	if p.Ended != nil {
		until = *p.Ended
	}
	if oldest > 0 {
		p.Reach = max(0, until.Sub(time.Unix(0, oldest)).Seconds())
	}
}

// rank sorts live processes before those that ended.
func (p *Process) rank() int {
	if p.Alive {
		return 1
	}
	return 0
}

func (v *State) Alive() (n int) {
	for _, p := range v.Processes {
		n += p.rank()
	}
	return n
}

// onDisk is the size of the files of a directory.
func onDisk(dir string) (bytes int64) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0 // the directory is gone
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}
