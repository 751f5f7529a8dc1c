//go:build linux

package main

import (
	"fmt"
	"net"
	"net/http"

	"gprof/recorder"
)

// A server is a known program under load. Start serves on loopback until stop; the paths
// are what clients ask for in turn.
type server struct {
	name  string
	start func(dir string) (s served, err error)
}

type served struct {
	address string
	paths   []string
	stop    func()
}

var servers = []server{
	{"PocketBase", startPocketBase},
	{"Caddy", startCaddy},
	{"Badger", startBadger},
}

var asked = recorder.NewEvent1("request", recorder.URL("path"))

// serve handles a request as a program does that embeds the recorder: it is an interval.
// The control burns its share here as well.
func serve(r *http.Request, handle func()) {
	defer asked.Begin(r.URL.Path).End()
	planted.burn()
	handle()
}

func marked(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serve(r, func() { h.ServeHTTP(w, r) })
	})
}

func listen() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }

// serveHTTP serves until stop.
func serveHTTP(h http.Handler) (address string, stop func(), err error) {
	l, err := listen()
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: marked(h)}
	go s.Serve(l)
	return l.Addr().String(), func() { s.Close() }, nil
}

// numbered are n paths that end in numbers.
func numbered(prefix string, n int) (paths []string) {
	for i := range n {
		paths = append(paths, fmt.Sprint(prefix, i))
	}
	return paths
}
