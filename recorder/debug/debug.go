// Package debug is an HTTP handler by which the recordings of a session can be
// fetched from a running program: also from a container that has neither a shell
// nor tar.
//
//	mux.Handle("/debug/gprof/", debug.Handler())
//
//	curl http://pod:8080/debug/gprof/                           which processes there are
//	curl http://pod:8080/debug/gprof/snapshot?last=60s -o p.gprof   what they recorded last
//	curl -f http://pod:8080/debug/gprof/crashed -o c.gprof          what those left that crashed
//	curl -X POST http://pod:8080/debug/gprof/trace?ahead=1s         a window of Go's execution trace, into the recording
//
// Nothing is registered unasked, and recording does not stop while it is read. A
// recording holds what the program put into its markers: serve it where net/http/pprof
// would be served, or ask who is there first, as the example of [Handler] does. Pages
// of other sites that somebody's browser shows get nothing, see [AllowHosts] and
// [AllowOrigins].
package debug

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"gprof/ingest/pack"
	"gprof/recorder"
)

// Handler serves the session of the recorder that runs in this process, below
// /debug/gprof/:
//
//	GET /debug/gprof/          lists live and crashed processes of the session; as
//	                           JSON to those who accept that, or with ?format=json
//	GET /debug/gprof/snapshot  streams a packed file of all live processes; with
//	                           ?last=60s without what ended earlier, with
//	                           ?instance=ID of one process alone, live or not
//	GET /debug/gprof/crashed   streams a packed file of the processes that crashed;
//	                           404 if none did
//	POST /debug/gprof/trace    has the recorder of this process take a window of Go's
//	                           execution trace, see [recorder.Recorder.Trace], of
//	                           ?ahead=1s, and tells the name of its file: it is in
//	                           snapshots from then on
//
// Packing takes a second of one processor for some 30 MB; one request does it at a
// time, while others wait or send. Each takes some 20 MB of memory, however large the
// session is, and four times the largest dictionary besides; so there are four at a
// time at most, others get 503. A client that takes less than 256 KB of a recording in
// a second is cut off.
//
// A request from a page of another site, or for a host name that a stranger may have
// made up, gets 403.
func Handler(options ...Option) http.Handler {
	h := &handler{packing: make(chan struct{}, 1), sending: make(chan struct{}, maxSending)}
	for _, o := range options {
		o(h)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+root+"{$}", h.with(h.list))
	mux.HandleFunc("GET "+root+"snapshot", h.with(h.snapshot))
	mux.HandleFunc("GET "+root+"crashed", h.with(h.crashed))
	mux.HandleFunc("POST "+root+"trace", trace)
	return h.guard(mux)
}

const root = "/debug/gprof/"

type handler struct {
	hosts, origins []string
	sending        chan struct{} // holds one for each download
	packing        chan struct{} // holds one while something is packed
}

// maxSending is how many downloads there may be at a time.
const maxSending = 4

// guard refuses what a browser sends for somebody else, and has no panic of ours reach
// the server.
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

// session is what a request is about.
type session struct {
	w         http.ResponseWriter
	r         *http.Request
	processes []pack.Process
}

// with finds the session.
func (h *handler) with(serve func(*session)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		dir := recorder.Running().Session()
		if dir == "" {
			http.Error(w, "nothing is recorded: recorder.Start was not called or failed, or the recorder was stopped", http.StatusServiceUnavailable)
			return
		}
		processes, err := pack.Session(dir)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		serve(&session{w, r, processes})
	}
}

// snapshot packs live processes.
func (h *handler) snapshot(s *session) {
	span, err := lastSpan(s.r.FormValue("last"))
	for name := range s.r.Form {
		if name != "last" && name != "instance" { // all of a session is much to get by a slip of the pen
			err = fmt.Errorf("%q: want last or instance", name)
		}
	}
	if err != nil {
		http.Error(s.w, err.Error(), http.StatusBadRequest)
		return
	}
	only := s.r.FormValue("instance")
	chosen := slices.DeleteFunc(s.processes, func(p pack.Process) bool {
		if only != "" {
			return only != instanceName(p.Instance)
		}
		return !p.Live
	})
	h.pack(s, "snapshot.gprof", chosen, span, "no such process")
}

// crashed packs processes that ended as they should not.
func (h *handler) crashed(s *session) {
	chosen := slices.DeleteFunc(s.processes, func(p pack.Process) bool { return !p.Describe().Crashed })
	h.pack(s, "crashed.gprof", chosen, pack.Span{}, "no process crashed")
}

// lastSpan is the time that ?last= asks for.
func lastSpan(last string) (pack.Span, error) {
	if last == "" {
		return pack.Span{}, nil
	}
	d, err := time.ParseDuration(last)
	if err != nil {
		seconds, err2 := strconv.ParseUint(last, 10, 31)
		if err2 != nil {
			return pack.Span{}, fmt.Errorf("last=%q: want a duration such as 60s", last)
		}
		d = time.Duration(seconds) * time.Second
	}
	if d <= 0 {
		return pack.Span{}, fmt.Errorf("last=%q: want more than nothing, such as 60s", last)
	}
	return pack.Span{From: time.Now().Add(-d).UnixNano(), To: math.MaxInt64}, nil
}

// pack streams a packed file. A client that sees no end of it, for which packed
// files have a mark, has not got all. Without processes it says what there is none of.
func (h *handler) pack(s *session, name string, processes []pack.Process, span pack.Span, none string) {
	if len(processes) == 0 {
		http.Error(s.w, none+"; "+root+" lists those there are", http.StatusNotFound)
		return
	}
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
	w := &patientWriter{s.w, http.NewResponseController(s.w), time.Now().Add(allowance(processes)), h.packing}
	defer w.SetWriteDeadline(time.Time{}) // the connection may serve others
	h.packing <- struct{}{}
	defer func() { <-h.packing }()
	// The only error is the client's, who is gone or too slow.
	pack.Write(w, processes, pack.Options{Span: span})
}

const (
	// patience is how long a client may take for some 100 KB, and for an answer of no
	// length.
	patience = 30 * time.Second

	// slowest is how many bytes of a recording a client has to take in a second.
	slowest = 256 << 10
)

// allowance is how long all of a download may take.
func allowance(processes []pack.Process) time.Duration {
	size := int64(0)
	for i := range processes {
		size += processes[i].Describe().Size
	}
	return patience + time.Duration(size/slowest)*time.Second
}

var errSlow = errors.New("the client is too slow")

// patientWriter gives each write its own time, within that of all: a server's
// WriteTimeout is made for short answers. Where deadlines are not supported the time
// of all holds between writes. While it sends, others may pack.
type patientWriter struct {
	io.Writer
	*http.ResponseController
	end     time.Time
	packing chan struct{}
}

func (w *patientWriter) Write(b []byte) (int, error) {
	<-w.packing
	defer func() { w.packing <- struct{}{} }()
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

// instanceName is an instance as it is written.
func instanceName(instance uint64) string { return fmt.Sprintf("%016x", instance) }
