// Package pprofui is pprof's own web interface for a profile in its format.
//
// It is the only package that imports pprof's driver, which takes its options as command-line flags
// and opens its own server; here it gets both from us.
package pprofui

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"
)

// ErrUI is the error of what pprof refused.
var ErrUI = errors.New("pprof's web interface")

// Serve reads a profile and calls serve with a handler of pprof's pages, from "/" on. It returns
// what serve returns, or why there are no pages. Only names in the profile are shown; nothing is
// looked up on other machines.
func Serve(r io.Reader, serve func(http.Handler) error) error {
	p, err := profile.Parse(r)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUI, err)
	}
	u := &ui{}
	var served error
	err = driver.PProf(&driver.Options{
		Flagset: newFlags("-http=127.0.0.1:1", "-no_browser", "-symbolize=none", "recording"),
		Fetch:   profileFetcher{p},
		Sym:     noSymbolizer{},
		UI:      u,
		HTTPServer: func(args *driver.HTTPServerArgs) error {
			served = serve(handler(args.Handlers))
			return served
		},
	})
	if err != nil && served == nil {
		return fmt.Errorf("%w: %w%s", ErrUI, err, u.text())
	}
	return served
}

// handler finds the page of a path.
func handler(pages map[string]http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		page.ServeHTTP(w, r)
	})
}

// profileFetcher returns a profile in memory. Without a source pprof keeps no copy of it.
type profileFetcher struct{ p *profile.Profile }

func (f profileFetcher) Fetch(string, time.Duration, time.Duration) (*profile.Profile, string, error) {
	return f.p, "", nil
}

// noSymbolizer looks no names up.
type noSymbolizer struct{}

func (noSymbolizer) Symbolize(string, driver.MappingSources, *profile.Profile) error { return nil }

// flags are the flags for pprof.
type flags struct {
	*flag.FlagSet
	args []string
}

func newFlags(args ...string) *flags {
	f := &flags{flag.NewFlagSet("pprof", flag.ContinueOnError), args}
	f.SetOutput(io.Discard)
	return f
}

// StringList implements [driver.FlagSet]; we set no list.
func (f *flags) StringList(name, def, usage string) *[]*string {
	return &[]*string{f.String(name, def, usage)}
}

func (f *flags) ExtraUsage() string   { return "" }
func (f *flags) AddExtraUsage(string) {}

func (f *flags) Parse(usage func()) []string {
	if f.FlagSet.Parse(f.args) != nil {
		usage()
		return nil
	}
	return f.Args()
}

// ui takes pprof's messages and notes errors.
type ui struct{ said []string }

func (u *ui) ReadLine(string) (string, error)     { return "", io.EOF }
func (u *ui) Print(...any)                        {}
func (u *ui) PrintErr(args ...any)                { u.said = append(u.said, strings.TrimSpace(fmt.Sprint(args...))) }
func (u *ui) IsTerminal() bool                    { return false }
func (u *ui) WantBrowser() bool                   { return false }
func (u *ui) SetAutoComplete(func(string) string) {}

// text is what was said.
func (u *ui) text() string {
	if len(u.said) == 0 {
		return ""
	}
	return " (" + strings.Join(u.said, "; ") + ")"
}
