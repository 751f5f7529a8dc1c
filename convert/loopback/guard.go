package loopback

import (
	"crypto/subtle"
	"net/http"
	"strings"
)

// guard lets those requests through to h that the server is for. h sees paths
// without the secret.
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

// protect sets what is right for every answer.
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

// share answers a page of the origin that may fetch. Browsers ask first, in
// particular whether the public may reach into a private network.
func (s *Server) share(w http.ResponseWriter, r *http.Request, h http.Handler) {
	w.Header().Set("Access-Control-Allow-Origin", s.o.Origin)
	if r.Method != http.MethodOptions {
		w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
		s.answer(w, r, h)
		return
	}
	w.Header().Set("Access-Control-Allow-Methods", "GET, HEAD")
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		w.Header().Set("Access-Control-Allow-Private-Network", "true")
	}
	w.WriteHeader(http.StatusNoContent)
}

// answer lets h answer.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, h http.Handler) {
	s.begin()
	answer := &status{ResponseWriter: w}
	defer func() { s.done(answer.good()) }()
	http.StripPrefix("/"+s.secret, h).ServeHTTP(answer, r)
}

// status remembers whether the content was given out.
type status struct {
	http.ResponseWriter
	code int // 0: not yet
}

func (s *status) WriteHeader(code int) {
	if s.code == 0 {
		s.code = code
	}
	s.ResponseWriter.WriteHeader(code)
}

func (s *status) Write(b []byte) (int, error) {
	if s.code == 0 {
		s.code = http.StatusOK
	}
	return s.ResponseWriter.Write(b)
}

func (s *status) good() bool { return s.code >= 200 && s.code < 300 }

// Unwrap lets the http package reach the writer.
func (s *status) Unwrap() http.ResponseWriter { return s.ResponseWriter }
