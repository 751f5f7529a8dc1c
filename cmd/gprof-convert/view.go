package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"gprof/convert"
	"gprof/convert/firefox"
	"gprof/convert/loopback"
	"gprof/convert/pprofui"
	"gprof/ingest"
)

type viewCmd struct {
	Inputs    []string       `arg:"" name:"input" help:"${inputs}"`
	Pprof     bool           `xor:"what" help:"Open pprof's own web interface, which is part of this program."`
	HTML      bool           `name:"html" xor:"what" help:"Open the page with the interactive flame graph."`
	NoBrowser bool           `help:"Only print the URL."`
	Linger    *time.Duration `placeholder:"TIME" help:"How long to go on after the browser last fetched something; 0 is until Ctrl-C, as it is with --pprof. Default: 10m."`
	Port      int            `placeholder:"N" help:"Port to serve on, as for ssh -L. Default: any that is free."`
	conversion
}

// linger is how long a page can be reloaded.
const linger = 10 * time.Minute

func (c *viewCmd) Help() string {
	return `Examples:
  gprof-convert view out/session
  gprof-convert view --last 10s 'dumps/*.gprof'
  gprof-convert view --html out/session
  gprof-convert view --pprof out/session
  gprof-convert view --no-browser --port 8123 out/session    # and: ssh -L 8123:127.0.0.1:8123 HOST

Firefox Profiler is a page that works in the browser: it fetches the recording
from this program, on this machine, and sends it nowhere. The URL that is printed
holds a secret that changes every time; only who has it, and only a page of
https://profiler.firefox.com, can fetch. The browser gets the URL by a page that only
you can read, for other users see what programs are started with; no file is left. A
browser in a sandbox may not see that page: open the printed URL in it instead.

The command ends with Ctrl-C, or by itself --linger after the browser last fetched
something. Until then the page can be reloaded.`
}

// Run converts, serves and opens the browser.
func (c *viewCmd) Run(s *streams) error {
	c.apply()
	if err := c.checkFlags(); err != nil {
		return &exitError{exitUsage, err}
	}
	server, err := loopback.Listen(c.options())
	if err != nil {
		return err
	}
	defer server.Close()
	found, err := c.open(s, c.Inputs)
	if err != nil {
		return err
	}
	from, to, err := c.span(found)
	if err != nil {
		found.Close()
		return &exitError{exitUsage, err}
	}
	file, read, err := c.convert(s, found)
	if err != nil {
		return err
	}
	defer file.discard()
	c.tell(s, "", read)
	if c.HTML && !c.Quiet {
		s.hintUnseen(read.unseen)
	}
	if err := c.show(s, server, file.file, func(name string) string {
		if c.Pprof || c.HTML {
			return server.URL(name)
		}
		return firefox.URL(server.URL(name), read.tables, from, to)
	}); err != nil {
		return err
	}
	return c.judgeAll(read)
}

func (c *viewCmd) checkFlags() error {
	switch {
	case c.Linger != nil && *c.Linger < 0:
		return fmt.Errorf("--linger %v: want a time, or 0 for until Ctrl-C", *c.Linger)
	case c.Port < 0 || c.Port > 65535:
		return fmt.Errorf("--port %d: want 1 to 65535, or 0 for any", c.Port)
	}
	return nil
}

func (c *viewCmd) options() loopback.Options {
	o := loopback.Options{Port: c.Port, Linger: linger}
	if c.Pprof {
		o.Linger = 0 // every look at it fetches something
	}
	if c.Linger != nil {
		o.Linger = *c.Linger
	}
	if !c.Pprof && !c.HTML {
		o.Origin = firefox.Site
	}
	return o
}

// convert makes the file that is served. It has no name where an open file can
// do without.
func (c *viewCmd) convert(s *streams, found *ingest.Found) (*output, *summed, error) {
	file, err := s.create(filepath.Join(temporary(), "gprof-view"), false, 0)
	if err != nil {
		return nil, nil, errors.Join(err, found.Close())
	}
	os.Remove(file.file.Name()) // elsewhere discard does it
	read, err := c.write(s, found, file)
	if err != nil {
		file.discard()
		return nil, nil, err
	}
	return file, read, nil
}

// write writes what was found to w, and closes it.
func (c *viewCmd) write(s *streams, found *ingest.Found, w io.Writer) (*summed, error) {
	format, options, err := convert.ByFormat(c.format())
	if err != nil {
		return nil, errors.Join(err, found.Close())
	}
	options.Jobs, options.SpillDir = c.Jobs.number(), temporary()
	sink, err := format.New(w, options)
	if err != nil {
		return nil, errors.Join(err, found.Close())
	}
	return c.sum(s, found, sink)
}

func (c *viewCmd) format() string {
	switch {
	case c.Pprof:
		return "pprof"
	case c.HTML:
		return "html"
	}
	return "firefox.gz"
}

// show serves the file until that ends.
func (c *viewCmd) show(s *streams, server *loopback.Server, file *os.File, url func(name string) string) error {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	serve := func(name string, h http.Handler) error {
		ctx, release := s.calm.until()
		defer release()
		defer c.point(s, url(name))()
		return server.Serve(ctx, h)
	}
	switch {
	case c.Pprof:
		return pprofui.Serve(io.NewSectionReader(file, 0, size), func(h http.Handler) error { return serve("", h) })
	case c.HTML:
		return serve("recording.html", loopback.File("recording.html", "text/html; charset=utf-8", file, size))
	}
	return serve("recording.json.gz", loopback.File("recording.json.gz", "application/gzip", file, size))
}

// point prints the URL, and opens it. end is for when nothing is served any more.
func (c *viewCmd) point(s *streams, url string) (end func()) {
	fmt.Fprintln(s.stdout, url)
	if c.NoBrowser {
		return func() {}
	}
	forget, err := s.browse(url)
	if err != nil {
		s.problem("warning", err)
		s.hint("open the URL above in a browser on this machine; from another one: ssh -L, and --port")
		return func() {}
	}
	if !c.Quiet {
		s.say("opened in the browser; Ctrl-C ends this")
	}
	return forget
}
