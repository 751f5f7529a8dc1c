// Package debug is an HTTP handler that serves the recordings of a session from a running program, which may be in a
// container that has neither a shell nor tar.
//
//	mux.Handle("/debug/gprof/", debug.Handler())
//
//	curl http://pod:8080/debug/gprof/                           lists the processes
//	curl http://pod:8080/debug/gprof/snapshot?last=60s -o p.gprof   what they recorded in the last minute
//	curl -f http://pod:8080/debug/gprof/crashed -o c.gprof          what crashed processes have left
//	curl http://pod:8080/debug/gprof/triggered                  lists what triggers kept, and where to fetch each
//	curl -X POST http://pod:8080/debug/gprof/trace?ahead=1s         a window of Go's execution trace, into the recording
//
// Importing the package registers nothing, and recording goes on while recordings are read. A recording contains what
// the program put into its markers: serve it where net/http/pprof would be served, or authenticate clients first, as the
// example of [Handler] does. Pages of other sites in somebody's browser are refused, see [AllowHosts] and [AllowOrigins].
package debug

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"gprof/chunks/sections"
	"gprof/recorder"
)

// Handler serves the session of the recorder that runs in this process, below
// /debug/gprof/:
//
//	GET /debug/gprof/          lists live and crashed processes of the session; as
//	                           JSON to those who accept that, or with ?format=json
//	GET /debug/gprof/snapshot  streams an archive of all live processes; with
//	                           ?last=60s without what ended earlier, with
//	                           ?instance=ID of one process alone, live or not
//	GET /debug/gprof/crashed   streams an archive of the processes that crashed;
//	                           404 if none did
//	GET /debug/gprof/triggered lists the snapshots that triggers kept, as JSON, see
//	                           [recorder.Trigger]; GET /debug/gprof/triggered/NAME
//	                           sends one
//	POST /debug/gprof/trace    has the recorder of this process take a window of Go's
//	                           execution trace, see [recorder.Recorder.Trace], of
//	                           ?ahead=1s, and tells the name of its file: it is in
//	                           snapshots from then on
//
// The session of a recording in memory, see [recorder.DirInMemory], is that one process.
//
// An archive is a .gprof file that is not compressed, so it costs the program almost no CPU time. gprof-convert reads it
// as it is, and its commands pack and merge write one of half the size. A download needs as much memory as the largest
// file of the session, a chunk or a dictionary. There are at most four downloads at a time; further ones get 503. A client
// that takes less than 256 KB of a recording per second is cut off.
//
// A request from a page of another site, or for a host name that a stranger could have made up, gets 403.
func Handler(options ...Option) http.Handler {
	h := &handler{sending: make(chan struct{}, maxSending)}
	for _, o := range options {
		o(h)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+root+"{$}", h.with(h.list))
	mux.HandleFunc("GET "+root+"snapshot", h.with(h.snapshot))
	mux.HandleFunc("GET "+root+"crashed", h.with(h.crashed))
	mux.HandleFunc("GET "+root+"triggered", h.with(h.triggered))
	mux.HandleFunc("GET "+root+"triggered/{name}", h.with(h.triggeredFile))
	mux.HandleFunc("POST "+root+"trace", trace)
	return h.guard(mux)
}

const root = "/debug/gprof/"

type handler struct {
	hosts, origins []string
	sending        chan struct{} // holds one for each download
}

// maxSending is how many downloads there may be at a time.
const maxSending = 4

// guard refuses requests that a browser sends on behalf of other sites, and keeps panics of ours from the server.
func (h *handler) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p != nil {
				http.Error(w, fmt.Sprintf("internal error: %v", p), http.StatusInternalServerError)
			}
		}()
		if why := h.refusal(r); why != "" {
			http.Error(w, why, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// request is what is asked for, and the processes that it is about.
type request struct {
	w         http.ResponseWriter
	r         *http.Request
	session   string // its directory, "" of a recording in memory
	processes []process
}

// with finds the processes.
func (h *handler) with(serve func(*request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		rec := recorder.Running()
		if rec == nil {
			http.Error(w, "nothing is recorded: recorder.Start was not called or failed, or the recorder was stopped", http.StatusServiceUnavailable)
			return
		}
		var processes []process
		var err error
		if session := rec.Session(); session != "" {
			processes, err = inSession(session)
		} else {
			processes, err = inMemory(rec)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		serve(&request{w, r, rec.Session(), processes})
	}
}

// snapshot sends live processes, or the one that is asked for.
func (h *handler) snapshot(s *request) {
	last, err := lastSpan(s.r.FormValue("last"))
	for name := range s.r.Form {
		if name != "last" && name != "instance" { // a misspelt parameter must not fetch the whole session
			err = fmt.Errorf("%q: want last or instance", name)
		}
	}
	if err != nil {
		http.Error(s.w, err.Error(), http.StatusBadRequest)
		return
	}
	only := s.r.FormValue("instance")
	chosen := slices.DeleteFunc(s.processes, func(p process) bool {
		if only != "" {
			return only != p.name()
		}
		return !p.live
	})
	h.send(s, "snapshot.gprof", chosen, last, "no such process")
}

// crashed sends the processes that crashed.
func (h *handler) crashed(s *request) {
	chosen := slices.DeleteFunc(s.processes, func(p process) bool { return !p.crashed })
	h.send(s, "crashed.gprof", chosen, 0, "no process crashed")
}

// lastSpan is the time that ?last= asks for, 0 for all.
func lastSpan(last string) (time.Duration, error) {
	if last == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(last)
	if err != nil {
		seconds, err2 := strconv.ParseUint(last, 10, 31)
		if err2 != nil {
			return 0, fmt.Errorf("last=%q: want a duration such as 60s", last)
		}
		d = time.Duration(seconds) * time.Second
	}
	if d <= 0 {
		return 0, fmt.Errorf("last=%q: want more than nothing, such as 60s", last)
	}
	return d, nil
}

// send streams an archive. An archive that is cut short, by an error of the disk or because the client is slow, lacks its
// end mark, and readers report that. If there are no processes it answers 404 with the text none.
func (h *handler) send(s *request, name string, processes []process, last time.Duration, none string) {
	if len(processes) == 0 {
		http.Error(s.w, none+"; "+root+" lists those there are", http.StatusNotFound)
		return
	}
	size := int64(0)
	for i := range processes {
		size += processes[i].bytes
	}
	h.stream(s, name, size, func(w io.Writer) {
		archive := sections.NewWriter(w)
		for i := range processes {
			if processes[i].write(archive, last) != nil {
				return
			}
		}
		archive.Close() // an error means that the client is gone
	})
}

// stream sends a file of about that size, unless there are too many downloads.
func (h *handler) stream(s *request, name string, size int64, write func(io.Writer)) {
	select {
	case h.sending <- struct{}{}:
		defer func() { <-h.sending }()
	default:
		s.w.Header().Set("Retry-After", "5")
		http.Error(s.w, fmt.Sprintf("%d downloads are going on; try again", maxSending), http.StatusServiceUnavailable)
		return
	}
	s.w.Header().Set("Content-Type", "application/octet-stream")
	s.w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	s.w.Header().Set("Cache-Control", "no-store")
	w := &patientWriter{s.w, http.NewResponseController(s.w), time.Now().Add(allowance(size))}
	defer w.SetWriteDeadline(time.Time{}) // the connection may serve others
	write(w)
}

const (
	// patience is how long a client may take for pieceSize bytes, and for an answer of
	// any size.
	patience  = 30 * time.Second
	pieceSize = 128 << 10

	// slowest is how many bytes of a recording a client has to take in a second.
	slowest = 256 << 10
)

// allowance is how long a download of so many bytes may take.
func allowance(size int64) time.Duration { return patience + time.Duration(size/slowest)*time.Second }

var errSlow = errors.New("the client is too slow")

// patientWriter gives each piece a deadline of its own, within that of the whole download: a server's WriteTimeout is meant
// for short answers. If deadlines are not supported, the time for the download is checked between writes. While it sends,
// others may pack.
type patientWriter struct {
	io.Writer
	*http.ResponseController
	end time.Time
}

func (w *patientWriter) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var m int
		m, err = w.piece(b[n:min(len(b), n+pieceSize)])
		n += m
	}
	return n, err
}

func (w *patientWriter) piece(b []byte) (int, error) {
	now := time.Now()
	if now.After(w.end) {
		return 0, errSlow
	}
	deadline := now.Add(patience)
	if w.end.Before(deadline) {
		deadline = w.end
	}
	w.SetWriteDeadline(deadline)
	return w.Writer.Write(b)
}
