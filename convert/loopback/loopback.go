// Package loopback serves something to a browser on this machine, and to nobody
// else.
//
// Any page in the browser may try to reach a port of the machine, and any
// user of the machine may connect to it. So
//
//   - the server listens on 127.0.0.1 alone;
//   - its path begins with 128 random bits, which only who was given the URL
//     knows;
//   - the Host header must name that address: a foreign name that was made to
//     point here (DNS rebinding) is refused;
//   - of pages of other origins only those that were named may fetch, after the
//     preflight that browsers ask for; all other origins are refused.
package loopback

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Options are the choices of a Server. The zero value is a good one.
type Options struct {
	Port   int           // 0: any that is free
	Origin string        // whose pages may fetch, as "https://profiler.firefox.com"; "" only those of the server itself
	Linger time.Duration // how long to go on after the last answer; 0 for ever
}

// Server serves one handler.
type Server struct {
	o        Options
	listener net.Listener
	secret   string

	mu     sync.Mutex
	active int         // requests that are being answered
	timer  *time.Timer // of Linger; nil before the first answer
	idle   chan struct{}
}

// Listen begins to listen. Connections wait until Serve is called.
func Listen(o Options) (*Server, error) {
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	if err != nil {
		return nil, err
	}
	return &Server{o: o, listener: listener, secret: rand.Text(), idle: make(chan struct{})}, nil
}

// URL is the address of what the handler knows as "/"+name.
func (s *Server) URL(name string) string {
	return "http://" + s.listener.Addr().String() + "/" + s.secret + "/" + name
}

// Limits of what a client may hold open: it is a browser on this machine.
const (
	headerTime = 10 * time.Second
	idleTime   = time.Minute
	maxHeader  = 64 << 10
)

// Serve answers with h until ctx is done, or until nothing was asked for during
// Linger after the first answer. Then it returns nil, and nothing of the server
// is left.
func (s *Server) Serve(ctx context.Context, h http.Handler) error {
	server := &http.Server{Handler: s.guard(h), ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-ctx.Done():
		case <-s.idle:
		}
		server.Close()
	}()
	err := server.Serve(s.listener)
	s.end() // if it was not the end that ended Serve
	<-stopped
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close ends a server that will not serve.
func (s *Server) Close() error { return s.listener.Close() }

// begin and done count what is being answered.
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
	if s.active > 0 || s.o.Linger == 0 || !answered && s.timer == nil {
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
		s.end()
	}
}

func (s *Server) end() {
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
