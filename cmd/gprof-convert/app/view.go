package app

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/human"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/output"
	"gprof/cmd/internal/report"
	"gprof/cmd/internal/symbolserver"
	"gprof/convert/firefox"
	"gprof/convert/loopback"
	"gprof/convert/pprofui"
	"gprof/convert/terminal"
	"gprof/ingest"
	"gprof/stream"
)

type viewCmd struct {
	Inputs    []string       `arg:"" name:"input" help:"${inputs}"`
	Pprof     bool           `xor:"what" help:"Open pprof's own web interface, which is part of this program."`
	HTML      bool           `name:"html" xor:"what" help:"Open the page with the interactive flame graph."`
	Terminal  bool           `xor:"what" help:"Show a flame graph and the time line in this terminal."`
	NoBrowser bool           `help:"Only print the URL."`
	Linger    *time.Duration `placeholder:"TIME" help:"How long to go on after the browser last fetched something; 0 is until Ctrl-C, as it is with --pprof. Default: 10m, or 8h where the page may ask for source and assembly."`
	Port      int            `placeholder:"N" help:"Port to serve on, as for ssh -L. Default: any that is free."`
	sourceFlags
	conversion.Flags
}

const (
	linger     = 10 * time.Minute // how long a page can be reloaded
	longLinger = 8 * time.Hour    // how long it can ask for more: a day's work
)

func (c *viewCmd) Help() string {
	return `Examples:
  gprof-convert view out/session
  gprof-convert view --last 10s 'dumps/*.gprof'
  gprof-convert view --html out/session
  gprof-convert view --pprof out/session
  gprof-convert view --terminal out/session
  gprof-convert view --no-browser --port 8123 out/session    # and: ssh -L 8123:127.0.0.1:8123 HOST

Firefox Profiler is a page that works in the browser: it fetches the recording
from this program, on this machine, and sends it nowhere. The URL that is printed
holds a secret that changes every time; only who has it, and only a page of
https://profiler.firefox.com, can fetch. The browser gets the URL by a page that only
you can read, for other users see what programs are started with; no file is left. A
browser in a sandbox may not see that page: open the printed URL in it instead.

Its source and assembly views show what lies on this machine: source files as for
top --source, and programs of the build that was recorded, where the recording says
or below --symbols.

Of a large recording the browser gets a part first: names of processes say how much
it is of them. When all is read, the command says so: reload the page then.

With --terminal nothing is served: keys move, zoom, search and choose, ? lists them.

The command ends with Ctrl-C, or by itself --linger after the browser last fetched
something. Until then the page can be reloaded.`
}

// Run converts, serves and opens the browser.
func (c *viewCmd) Run(s *input.Tool) error {
	c.Apply()
	if err := c.checkFlags(); err != nil {
		return console.Exit(console.Usage, err)
	}
	if c.Terminal {
		return c.showInTerminal(s)
	}
	server, err := loopback.Listen(c.serving())
	if err != nil {
		return err
	}
	defer server.Close()
	found, err := c.Open(s, c.Inputs, "")
	if err != nil {
		return err
	}
	from, to, err := c.Span(found)
	if err != nil {
		found.Close()
		return console.Exit(console.Usage, err)
	}
	if part := c.part(s, found); part != nil {
		return c.showGrowing(s, server, part, found)
	}
	whole, err := c.picture(s, found, s.Warn)
	if err != nil {
		return err
	}
	defer whole.file.Discard()
	c.told(s, whole)
	if c.Pprof {
		err = pprofui.Serve(io.NewSectionReader(whole.file.Handle, 0, whole.size), func(h http.Handler) error {
			return c.serve(s, server, server.URL(""), h)
		})
	} else {
		err = c.serve(s, server, c.address(s, server, whole, from, to), c.handler(whole))
	}
	if err != nil {
		return err
	}
	return c.JudgeAll(whole.read)
}

// picture is what is shown of recordings, or of a part of them.
type picture struct {
	file *output.File
	size int64
	read *conversion.Digest
	code *symbolserver.Server
}

// picture reads what was found, and closes it.
func (c *viewCmd) picture(s *input.Tool, found *ingest.Found, warn func(error)) (p *picture, err error) {
	p = &picture{code: symbolserver.New(symbolserver.Options{SourceDirs: c.Dirs, Symbols: c.Symbols, Warn: warn})}
	if p.file, p.read, err = c.convert(s, found, p.code); err != nil {
		return nil, err
	}
	if p.size, err = p.file.Handle.Seek(0, io.SeekEnd); err != nil {
		p.file.Discard()
		return nil, err
	}
	return p, nil
}

// told says what is missing from a picture.
func (c *viewCmd) told(s *input.Tool, p *picture) {
	c.Tell(s, "", p.read)
	if c.HTML && !c.Quiet {
		s.Hint(report.UnseenHint(p.read.Unseen))
	}
}

// address is where a browser shows a picture, with the time from from to to selected.
func (c *viewCmd) address(s *input.Tool, server *loopback.Server, p *picture, from, to stream.Time) string {
	if c.HTML {
		return server.URL(pageName)
	}
	return firefox.URL(server.URL(profileName), c.serveCode(s, server, p.code), p.read.Tables, from, to)
}

// Names of what is served.
const (
	pageName    = "recording.html"
	profileName = "recording.json.gz"
)

// handler serves a picture.
func (c *viewCmd) handler(p *picture) http.Handler {
	if c.HTML {
		return loopback.File(pageName, "text/html; charset=utf-8", p.file.Handle, p.size)
	}
	all := http.NewServeMux()
	all.Handle("/", loopback.File(profileName, "application/gzip", p.file.Handle, p.size))
	p.code.Handle(all)
	return all
}

// firefox reports whether Firefox Profiler is what shows the recording.
func (c *viewCmd) firefox() bool { return !c.Pprof && !c.HTML }

// serveCode returns where the viewer may ask for code, "" if there is none here. The server stays for that.
func (c *viewCmd) serveCode(s *input.Tool, server *loopback.Server, code *symbolserver.Server) string {
	assembly, sources := code.Can()
	views := "source and assembly views work"
	switch {
	case !assembly && !sources:
		return ""
	case !assembly:
		views = "source view works"
	case !sources:
		views = "assembly view works"
	}
	if c.Linger == nil {
		server.Stay(longLinger)
	}
	if !c.Quiet {
		s.Say("Firefox Profiler's " + views + " while this runs: " + c.end())
	}
	return strings.TrimSuffix(server.URL(""), "/")
}

// end says when the command ends that serves code.
func (c *viewCmd) end() string {
	stay := longLinger
	if c.Linger != nil {
		stay = *c.Linger
	}
	if stay == 0 {
		return "until Ctrl-C"
	}
	return fmt.Sprintf("until Ctrl-C, or %s after it last asked", human.Time(int64(stay)))
}

// showInTerminal shows the recordings where the command was typed. What is missing is told afterwards.
func (c *viewCmd) showInTerminal(s *input.Tool) error {
	if err := terminal.Check(); err != nil {
		s.End(console.Exit(console.Usage, err))
		s.Hint("gprof-convert top prints tables anywhere, and -o graph.html writes a page; TERM says what a terminal knows, as in TERM=xterm-256color")
		return console.Exit(console.Usage, nil)
	}
	found, err := c.Open(s, c.Inputs, "")
	if err != nil {
		return err
	}
	run := new(terminal.Run)
	read, err := c.Digest(s, found, run)
	if err != nil {
		return err
	}
	ctx, release := s.Calm.Until()
	err = terminal.Show(ctx, run)
	release()
	if err != nil {
		return err
	}
	c.Tell(s, "", read)
	return c.JudgeAll(read)
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

func (c *viewCmd) serving() loopback.Options {
	o := loopback.Options{Port: c.Port, Linger: linger}
	if c.Pprof {
		o.Linger = 0 // every look at it fetches something
	}
	if c.Linger != nil {
		o.Linger = *c.Linger
	}
	if c.firefox() {
		o.Origin = firefox.Site
	}
	return o
}

// convert makes the file that is served. It has no name where an open file can
// do without.
func (c *viewCmd) convert(s *input.Tool, found *ingest.Found, code *symbolserver.Server) (*output.File, *conversion.Digest, error) {
	file, err := s.Outputs.Create(filepath.Join(output.TempDir(), "gprof-view"), false, 0)
	if err != nil {
		return nil, nil, errors.Join(err, found.Close())
	}
	os.Remove(file.Handle.Name()) // elsewhere discard does it
	read, err := c.write(s, found, file, code)
	if err != nil {
		file.Discard()
		return nil, nil, err
	}
	return file, read, nil
}

// write writes what was found to w, and closes it.
func (c *viewCmd) write(s *input.Tool, found *ingest.Found, w io.Writer, code *symbolserver.Server) (*conversion.Digest, error) {
	format, options, err := s.Formats.ByFormat(c.format())
	if err != nil {
		return nil, errors.Join(err, found.Close())
	}
	options.Jobs, options.SpillDir, options.Extent = c.Jobs.Number(), output.TempDir(), code.Extent
	sink, err := format.New(w, options)
	if err != nil {
		return nil, errors.Join(err, found.Close())
	}
	if c.firefox() {
		sink = code.Of(sink)
	}
	return c.Digest(s, found, sink)
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

// serve serves until that ends.
func (c *viewCmd) serve(s *input.Tool, server *loopback.Server, url string, h http.Handler) error {
	ctx, release := s.Calm.Until()
	defer release()
	defer c.point(s, url)()
	return server.Serve(ctx, h)
}

// point prints the URL, and opens it. end is for when nothing is served any more.
func (c *viewCmd) point(s *input.Tool, url string) (end func()) {
	fmt.Fprintln(s.Stdout, url)
	if c.NoBrowser {
		return func() {}
	}
	forget, err := browse(s.Outputs, url)
	if err != nil {
		s.Warn(err)
		s.Hint("open the URL above in a browser on this machine; from another one: ssh -L, and --port")
		return func() {}
	}
	if !c.Quiet {
		s.Say("opened in the browser; Ctrl-C ends this")
	}
	return forget
}
