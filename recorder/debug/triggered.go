package debug

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"time"

	"gprof/chunks/folder"
	"gprof/chunks/kept"
)

// keptRow is a snapshot that a trigger kept.
type keptRow struct {
	Name     string    `json:"name"`
	Time     time.Time `json:"time"`
	Instance string    `json:"instance"` // of the process whose trigger it was
	Bytes    int64     `json:"bytes"`    // on the disk
	File     string    `json:"file"`     // where it can be fetched
}

// triggered lists what triggers kept, the oldest first.
func (h *handler) triggered(s *request) {
	rows := []keptRow{}
	if s.session != "" {
		files, err := kept.List(s.session)
		if err != nil {
			http.Error(s.w, err.Error(), http.StatusInternalServerError)
			return
		}
		for _, f := range files {
			rows = append(rows, keptRow{f.Name(), f.Time, folder.InstanceName(f.Instance), f.Size, root + "triggered/" + f.Name()})
		}
	}
	s.w.Header().Set("Cache-Control", "no-store")
	s.w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(s.w).Encode(map[string][]keptRow{"triggered": rows}) // an error means that the client is gone
}

// triggeredFile sends a file.
func (h *handler) triggeredFile(s *request) {
	name := s.r.PathValue("name")
	file, err := kept.Open(s.session, name)
	if errors.Is(err, fs.ErrNotExist) || s.session == "" {
		http.Error(s.w, "no such file, or it made room for others; "+root+"triggered lists those there are", http.StatusNotFound)
		return
	}
	var info fs.FileInfo
	if err == nil {
		defer file.Close()
		info, err = file.Stat()
	}
	if err != nil {
		http.Error(s.w, err.Error(), http.StatusInternalServerError)
		return
	}
	h.stream(s, name, info.Size(), func(w io.Writer) { io.Copy(w, file) })
}
