package app

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"gprof/cmd/internal/input"
	"gprof/convert/loopback"
	"gprof/ingest"
)

const (
	// manyBytes is the size of recordings from which on a person would wait long for all of them.
	manyBytes = 128 << 20
	// fewBytes is about how much of them is read for the first picture.
	fewBytes = 16 << 20
)

// part is a first picture of large recordings, nil if there is none: what was found is small, or takes long
// to open twice.
func (c *viewCmd) part(s *input.Tool, found *ingest.Found) *picture {
	size := int64(0)
	for _, p := range found.Processes {
		if size += p.Bytes(); !p.InPlace() {
			return nil
		}
	}
	if size < manyBytes || c.Pprof || c.Given() {
		return nil
	}
	for _, name := range c.Inputs {
		if name == "-" || strings.Contains(name, "://") {
			return nil
		}
	}
	of := *c
	of.Every, of.Quiet = int(size/fewBytes), true
	again, err := ingest.Find(of.Inputs, of.Options(s, "")) // what there is to warn of was said before
	if err != nil {
		return nil // reading all of it will say so; likewise below
	}
	p, err := of.picture(s, again, func(error) {})
	if err != nil {
		return nil
	}
	if !c.Quiet {
		s.Say(fmt.Sprintf("this is one of %d chunks; reload the page when all are read", of.Every))
	}
	return p
}

// showGrowing shows a part while all is read, and then all at the same address.
func (c *viewCmd) showGrowing(s *input.Tool, server *loopback.Server, part *picture, found *ingest.Found) error {
	defer part.file.Discard()
	var now latest
	now.show(c.handler(part))
	url := c.address(s, server, part, 0, 0)
	release := server.Hold()
	type outcome struct {
		whole *picture
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		defer release()
		whole, err := c.picture(s, found, s.Warn)
		if err != nil {
			server.End()
		} else {
			now.show(c.handler(whole))
			c.told(s, whole)
			if !c.Quiet {
				s.Say("all is read: reload the page")
			}
		}
		done <- outcome{whole, err}
	}()
	if err := c.serve(s, server, url, &now); err != nil {
		return err
	}
	select {
	case o := <-done:
		if o.err != nil {
			return o.err
		}
		defer o.whole.file.Discard()
		return c.JudgeAll(o.whole.read)
	default: // nobody waits for it any more
		return nil
	}
}

// latest is the handler that was shown last.
type latest struct{ is atomic.Pointer[http.Handler] }

func (l *latest) show(h http.Handler) { l.is.Store(&h) }

// ServeHTTP implements [http.Handler].
func (l *latest) ServeHTTP(w http.ResponseWriter, r *http.Request) { (*l.is.Load()).ServeHTTP(w, r) }
