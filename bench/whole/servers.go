//go:build linux

package main

import (
	"fmt"
	"net/http"

	"gprof/fixtures/servers"
	"gprof/fixtures/servers/files"
	"gprof/fixtures/servers/records"
	"gprof/fixtures/servers/values"
	"gprof/recorder"
)

// A server is a known program under load. Start serves on loopback until stop; the paths
// are what clients ask for in turn.
type server struct {
	name  string
	start func(dir string) (servers.Served, error)
	paths []string
}

var known = []server{
	{"PocketBase", func(dir string) (servers.Served, error) { return records.Start(dir, marked, nil) }, numbered(records.Page, records.Notes/10)},
	{"Caddy", func(dir string) (servers.Served, error) { return files.Start(dir, marked) }, numbered("/", files.Files)},
	{"Badger", func(dir string) (servers.Served, error) { return values.Start(dir, 64<<20, marked) }, numbered("/", 1000)},
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

// numbered are n paths that end in numbers.
func numbered(prefix string, n int) (paths []string) {
	for i := range n {
		paths = append(paths, fmt.Sprint(prefix, i))
	}
	return paths
}
