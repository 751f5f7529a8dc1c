package harvest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gprof/chunks/folder"
	"gprof/cmd/internal/human"
)

// What names something that happened.
type What string

// What can happen.
const (
	Saved       What = "saved"       // a recording is in the place
	Present     What = "present"     // it was there already
	Removed     What = "removed"     // from the session, as it is in the place
	Kept        What = "kept"        // it should have been removed, and could not be
	Gone        What = "gone"        // it made way for newer ones before it was saved
	Incomplete  What = "incomplete"  // some of its files could not be read
	Unreadable  What = "unreadable"  // a session or a recording
	Unreachable What = "unreachable" // the place failed; told once until it works again
	Reachable   What = "reachable"   // the place works again
)

// Event is something that happened. Fields that say nothing about it are zero.
type Event struct {
	Time     time.Time
	What     What
	Service  string
	Instance uint64
	Pid      uint32
	Ended    time.Time // the last sign of life
	How      string    // how it ended
	Path     string    // in the place, or of what can't be read
	Bytes    int64     // of the file
	Took     time.Duration
	Err      error
}

// MarshalJSON writes an event as a line of a log has it.
func (e Event) MarshalJSON() ([]byte, error) {
	line := struct {
		Time     time.Time  `json:"time"`
		What     What       `json:"event"`
		Service  string     `json:"service,omitempty"`
		Instance string     `json:"instance,omitempty"`
		Pid      uint32     `json:"pid,omitempty"`
		Ended    *time.Time `json:"ended,omitempty"`
		How      string     `json:"how,omitempty"`
		Path     string     `json:"path,omitempty"`
		Bytes    int64      `json:"bytes,omitempty"`
		Seconds  float64    `json:"seconds,omitempty"`
		Err      string     `json:"error,omitempty"`
	}{Time: e.Time.UTC(), What: e.What, Service: e.Service, Pid: e.Pid, How: e.How, Path: e.Path, Bytes: e.Bytes, Seconds: e.Took.Seconds()}
	if e.Instance != 0 {
		line.Instance = folder.InstanceName(e.Instance)
	}
	if !e.Ended.IsZero() {
		line.Ended = &e.Ended
	}
	if e.Err != nil {
		line.Err = e.Err.Error()
	}
	return json.Marshal(line)
}

// String tells a person what happened.
func (e Event) String() string {
	switch e.What {
	case Saved:
		return fmt.Sprintf("saved %s: %s; %s", e.Path, e.process(), human.Bytes(e.Bytes))
	case Present:
		return fmt.Sprintf("%s is there already: %s", e.Path, e.process())
	case Removed:
		return fmt.Sprintf("removed from the session: %s", e.process())
	case Kept:
		why, more, _ := strings.Cut(e.Err.Error(), "\n") // one reason is enough of a disk that can't be written
		if more != "" {
			why += ", and more"
		}
		return fmt.Sprintf("not removed from the session: %s: %s", e.process(), why)
	case Gone:
		return fmt.Sprintf("made way for newer recordings before it was saved: %s; a larger limit keeps more", e.process())
	case Incomplete:
		return fmt.Sprintf("%s: %v", e.process(), e.Err)
	case Unreadable:
		return fmt.Sprintf("%s: %v", e.Path, e.Err)
	case Unreachable:
		return fmt.Sprintf("%v; what is left waits until the destination works", e.Err)
	}
	return "the destination works again"
}

// Bad reports whether somebody should act on it.
func (e Event) Bad() bool {
	switch e.What {
	case Kept, Gone, Incomplete, Unreadable, Unreachable:
		return true
	}
	return false
}

// process names the process.
func (e Event) process() string {
	text := fmt.Sprintf("%s, pid %d (instance %s)", e.Service, e.Pid, folder.InstanceName(e.Instance))
	if !e.Ended.IsZero() {
		text += ", " + e.Ended.UTC().Format("2006-01-02 15:04:05Z")
	}
	if e.How != "" {
		text += ", " + e.How
	}
	return text
}
