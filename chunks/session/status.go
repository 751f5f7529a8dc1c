package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/rawformat"
)

// Status is what the control page of a session said at one moment, for tools.
type Status struct {
	Limit      int64 // bytes, for all
	Command    rawformat.Command
	Generation uint64 // of the command
	Slots      []Standing
}

// Standing is one instance in a session. Times are in ns since the Unix epoch.
type Standing struct {
	rawformat.Slot
	Alive bool // its owner holds the lock of its directory
}

// Sum is how many bytes all instances hold.
func (s *Status) Sum() (bytes int64) {
	for i := range s.Slots {
		bytes += s.Slots[i].Held
	}
	return bytes
}

// Read reads the control page in the directory of a session and finds out which processes
// live. It changes nothing, and works on a copy of a session as well.
// The error is [fs.ErrNotExist], or an [*rawformat.Error] as of
// [rawformat.ReadControl].
func Read(session string) (*Status, error) {
	page, err := readControl(session)
	if err != nil {
		return nil, err
	}
	s, err := parseSession(page)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(session, chunks.ControlName), err)
	}
	for i := range s.Slots {
		x := &s.Slots[i]
		x.Alive = x.Kind == rawformat.SlotLive && Alive(filepath.Join(session, folder.InstanceName(x.Instance)))
	}
	return s, nil
}

// readControl reads the control page. A pipe in its place must not block it.
func readControl(session string) ([]byte, error) {
	path := filepath.Join(session, chunks.ControlName)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: chunks.ErrNotRegular}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, rawformat.ControlSize))
}

// parseSession parses a control page. Slots that are cut off count as free; an impossible
// limit is 0.
func parseSession(page []byte) (*Status, error) {
	h, err := rawformat.ReadControl(page)
	if err != nil && !errors.Is(err, rawformat.ErrTooBig) {
		return nil, err
	}
	s := &Status{Limit: h.Limit, Command: h.Command, Generation: h.Generation}
	for i := range h.Slots {
		at := slotAt(i)
		if at+rawformat.SlotSize > len(page) {
			break
		}
		if slot := rawformat.ReadSlot(page[at:]); slot.Instance != 0 {
			s.Slots = append(s.Slots, Standing{Slot: slot})
		}
	}
	return s, nil
}

// Slots returns the instances of the session, and which of them live.
func (c *Control) Slots() ([]Standing, error) {
	s, err := Read(c.session)
	if err != nil {
		return nil, err
	}
	return s.Slots, nil
}

// IndexNow is the hand-out mark of an instance in a session, which the exit records of
// its children state. It comes from its slot, which is at most a tick old, or else from
// its exit record and its chunks. False: nothing is known of the instance.
func IndexNow(session string, instance uint64) (index uint64, ok bool) {
	if instance == 0 {
		return 0, false
	}
	if page, err := readControl(session); err == nil {
		if s, err := parseSession(page); err == nil {
			for i := range s.Slots {
				if s.Slots[i].Instance == instance {
					return s.Slots[i].End, true
				}
			}
		}
	}
	r, err := openRemains(filepath.Join(session, folder.InstanceName(instance)))
	if err != nil {
		return 0, false
	}
	if x := r.p.Exit; x != nil {
		index = x.RangeEnd
	}
	for _, im := range r.p.Chunks {
		index = max(index, im.End())
	}
	return index, index > 0
}
