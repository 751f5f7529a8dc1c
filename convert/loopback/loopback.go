// Package loopback serves something to a browser on this machine, and to nobody else.
//
// Any page in the browser may try to reach a port of the machine, and any user of the machine may
// connect to it. So
//
//   - the server listens on 127.0.0.1 only;
//   - its path begins with 128 random bits, known only from the URL;
//   - requests with another Host are refused, so that no foreign name can be made to point here
//     (DNS rebinding);
//   - only pages of a named other origin may fetch, after a browser's preflight; all other origins
//     are refused.
package loopback

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Options are the options of a Server. The zero value is a good choice.
type Options struct {
	Port   int           // 0: any that is free
	Origin string        // may fetch, as "https://profiler.firefox.com"; "" only the server's own pages
	Linger time.Duration // how long to go on after the last answer; 0 forever
}

// Server serves one handler.
type Server struct {
	o        Options
	listener net.Listener
	secret   string

	mu     sync.Mutex
	active int         // requests that are being answered, and holds
	asked  bool        // something was answered
	timer  *time.Timer // of Linger; nil before the first answer
	idle   chan struct{}
}

// Listen listens. Connections wait until Serve is called.
func Listen(o Options) (*Server, error) {
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	if err != nil {
		return nil, err
	}
	return &Server{o: o, listener: listener, secret: rand.Text(), idle: make(chan struct{})}, nil
}

// Stay changes [Options.Linger]. It is for before Serve.
func (s *Server) Stay(linger time.Duration) { s.o.Linger = linger }

// URL is the address of the handler's "/"+name.
func (s *Server) URL(name string) string {
	return "http://" + s.listener.Addr().String() + "/" + s.secret + "/" + name
}

// Limits of what a client may hold open: it is a browser on this machine.
const (
	headerTime = 10 * time.Second
	idleTime   = time.Minute
	flushTime  = time.Second
	maxHeader  = 64 << 10
)

// Serve answers with h until ctx is done, or nothing was requested for Linger after the last
// answer. Then it returns nil, and nothing of the server is left.
func (s *Server) Serve(ctx context.Context, h http.Handler) error {
	server := &http.Server{Handler: s.guard(h), ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-ctx.Done():
		case <-s.idle: // the last answer may still be in the server's buffer
			flush, cancel := context.WithTimeout(context.Background(), flushTime)
			defer cancel()
			server.Shutdown(flush)
		}
		server.Close()
	}()
	err := server.Serve(s.listener)
	s.End() // if it was not the end that ended Serve
	<-stopped
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Hold keeps a server from ending for lack of requests until release is called.
func (s *Server) Hold() (release func()) {
	s.begin()
	return func() { s.done(false) }
}

// Close ends a server that will not serve.
func (s *Server) Close() error { return s.listener.Close() }

// begin and done count requests being answered.
func (s *Server) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active++
	if s.timer != nil {
		s.timer.Stop()
	}
}

// done is told whether something was answered.
func (s *Server) done(answered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active--
	s.asked = s.asked || answered
	if s.active > 0 || s.o.Linger == 0 || !s.asked {
		return
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = time.AfterFunc(s.o.Linger, s.lapse)
}

// lapse ends the server, unless a request came at the last moment.
func (s *Server) lapse() {
	s.mu.Lock()
	quiet := s.active == 0
	s.mu.Unlock()
	if quiet {
		s.End()
	}
}

// End has Serve return after the last answer.
func (s *Server) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.idle:
	default:
		close(s.idle)
	}
	if s.timer != nil {
		s.timer.Stop()
	}
}

// guard passes legitimate requests to h, with paths without the secret.
func (s *Server) guard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.protect(w.Header())
		origin := r.Header.Get("Origin")
		switch {
		case !s.mine(r.Host):
			http.Error(w, "misdirected: this is not the host that was asked for", http.StatusMisdirectedRequest)
		case !s.knows(r.URL.Path):
			http.NotFound(w, r)
		case origin == "" || origin == "http://"+r.Host:
			s.answer(w, r, h)
		case s.o.Origin == "" || origin != s.o.Origin:
			http.Error(w, "this is not for pages of "+origin, http.StatusForbidden)
		default:
			s.share(w, r, h)
		}
	})
}

// protect sets the headers of every answer.
func (s *Server) protect(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Resource-Policy", "same-origin") // of what is embedded; a fetch is allowed by share
	h.Set("Referrer-Policy", "no-referrer")              // it would hold the secret
	h.Set("Vary", "Origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
}

// mine reports whether a Host header names this server.
func (s *Server) mine(host string) bool {
	address := s.listener.Addr().String()
	_, port, _ := strings.Cut(address, ":")
	return host == address || host == "localhost:"+port
}

// knows reports whether a path begins with the secret.
func (s *Server) knows(path string) bool {
	first, _, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return ok && subtle.ConstantTimeCompare([]byte(first), []byte(s.secret)) == 1
}

// share answers pages of the allowed origin. Browsers ask first, in particular whether a public
// page may reach into a private network.
func (s *Server) share(w http.ResponseWriter, r *http.Request, h http.Handler) {
	w.Header().Set("Access-Control-Allow-Origin", s.o.Origin)
	if r.Method != http.MethodOptions {
		w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
		s.answer(w, r, h)
		return
	}
	w.Header().Set("Access-Control-Allow-Methods", "GET, HEAD, POST")
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		w.Header().Set("Access-Control-Allow-Private-Network", "true")
	}
	w.WriteHeader(http.StatusNoContent)
}

// answer lets h answer.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, h http.Handler) {
	s.begin()
	answer := &statusRecorder{ResponseWriter: w}
	defer func() { s.done(answer.good()) }()
	http.StripPrefix("/"+s.secret, h).ServeHTTP(answer, r)
}

// statusRecorder remembers whether the content was delivered.
type statusRecorder struct {
	http.ResponseWriter
	code int // 0: not yet
}

func (s *statusRecorder) WriteHeader(code int) {
	if s.code == 0 {
		s.code = code
	}
	s.ResponseWriter.WriteHeader(code)
}

func (s *statusRecorder) Write(b []byte) (int, error) {
	if s.code == 0 {
		s.code = http.StatusOK
	}
	return s.ResponseWriter.Write(b)
}

func (s *statusRecorder) good() bool { return s.code >= 200 && s.code < 300 }

// Unwrap is for [http.ResponseController].
func (s *statusRecorder) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// File is a handler of one file by its name, which it reads from content, of size bytes,
// concurrently.
func File(name, contentType string, content io.ReaderAt, size int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/"+name:
			http.NotFound(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only to be read", http.StatusMethodNotAllowed)
		default:
			w.Header().Set("Content-Type", contentType)
			http.ServeContent(w, r, name, time.Time{}, io.NewSectionReader(content, 0, size))
		}
	})
}
