//go:build linux

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/fileserver"
)

func init() { caddy.RegisterModule(middleware{}) }

// middleware is a handler of Caddy's that marks each request.
type middleware struct{}

func (middleware) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.whole_interval", New: func() caddy.Module { return new(middleware) }}
}

func (*middleware) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) (err error) {
	serve(r, func() { err = next.ServeHTTP(w, r) })
	return err
}

const caddyConfig = `{
	"admin": {"disabled": true, "config": {"persist": false}},
	"logging": {"logs": {"default": {"level": "ERROR"}}},
	"apps": {"http": {"servers": {"files": {
		"listen": [%q],
		"automatic_https": {"disable": true},
		"routes": [{"handle": [{"handler": "whole_interval"}, {"handler": "file_server", "root": %q}]}]
	}}}}
}`

// startCaddy serves files of 4 KiB.
func startCaddy(dir string) (s served, err error) {
	root := filepath.Join(dir, "files")
	if err := os.Mkdir(root, 0o755); err != nil {
		return s, err
	}
	s.paths = numbered("/", 100)
	for _, p := range s.paths {
		if err := os.WriteFile(root+p, bytes.Repeat([]byte("text"), 1<<10), 0o644); err != nil {
			return s, err
		}
	}
	l, err := listen() // for a port that is free
	if err != nil {
		return s, err
	}
	s.address = l.Addr().String()
	l.Close()
	s.stop = func() { caddy.Stop() }
	return s, caddy.Load(fmt.Appendf(nil, caddyConfig, s.address, root), true)
}
