package collector

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/gzip"

	"gprof/rawformat/otlpproto"
	"gprof/rawformat/protobuf"
)

// answers is a collector that gives these replies one after the other, and the last one again.
type answers struct {
	replies []reply
	bodies  []string
	header  http.Header // of the last request
}

type reply struct {
	status int
	header http.Header
	body   string
	err    error
}

func (a *answers) RoundTrip(q *http.Request) (*http.Response, error) {
	z, err := gzip.NewReader(q.Body)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	r := a.replies[min(len(a.bodies), len(a.replies)-1)]
	a.bodies, a.header = append(a.bodies, string(body)), q.Header
	if r.err != nil {
		return nil, r.err
	}
	return &http.Response{StatusCode: r.status, Status: http.StatusText(r.status), Header: r.header, Body: io.NopCloser(strings.NewReader(r.body))}, nil
}

// sent is what sending to such a collector gives, and how long it takes.
func sent(t *testing.T, replies ...reply) (a *answers, took time.Duration, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, bad := New("otlp+http://user:secret@host:4318")
		if bad != nil {
			t.Fatal(bad)
		}
		a = &answers{replies: replies}
		c.http.Transport = a
		begun := time.Now()
		err = c.Send([]byte("profiles"))
		took = time.Since(begun)
	})
	return a, took, err
}

// A request is repeated while the collector is down or busy, not before it asks for, and not for ever.
func TestRepeats(t *testing.T) {
	down, busy := reply{err: errors.New("connection refused")}, reply{status: 503, header: http.Header{"Retry-After": {"7"}}}
	a, took, err := sent(t, down, busy, reply{status: 200})
	if err != nil || len(a.bodies) != 3 || took < 7*time.Second || took > 10*time.Second {
		t.Errorf("%d attempts in %v, %v", len(a.bodies), took, err)
	}
	for _, body := range a.bodies {
		if body != "profiles" {
			t.Errorf("%q was sent", body)
		}
	}
	if got := a.header; got.Get("Content-Type") != "application/x-protobuf" || got.Get(otlpproto.DevelopmentVersionHeader) == "" {
		t.Errorf("%v", got)
	}
	if a, took, err = sent(t, down); err == nil || len(a.bodies) < 6 || took > patience || !strings.Contains(err.Error(), "given up") || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("%d attempts in %v, %v", len(a.bodies), took, err)
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the password is told: %v", err)
	}
	forever := reply{status: 429, header: http.Header{"Retry-After": {"99999999"}}}
	if a, took, err = sent(t, forever); err == nil || len(a.bodies) != 1 || took != 0 {
		t.Errorf("%d attempts in %v, %v", len(a.bodies), took, err)
	}
}

// A refusal is told at once, with the collector's own words and what to do.
func TestRefused(t *testing.T) {
	status := string(protobuf.AppendBytes(protobuf.AppendNumber(nil, 1, 3), 2, "no\nstack table"))
	for _, tt := range []struct {
		reply reply
		want  string
	}{
		{reply{status: 400, body: status}, "no stack table"},
		{reply{status: 404, body: "404 page not found\n"}, "404 page not found"},
		{reply{status: 413}, "Request Entity Too Large"},
	} {
		a, took, err := sent(t, tt.reply)
		if err == nil || len(a.bodies) != 1 || took != 0 || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%d attempts in %v, %v", len(a.bodies), took, err)
		}
	}
	rejected := protobuf.AppendBytes(protobuf.AppendNumber(nil, otlpproto.PartialRejected, 2), otlpproto.PartialMessage, "too old")
	_, _, err := sent(t, reply{status: 200, body: string(protobuf.AppendBytes(nil, otlpproto.ResponsePartial, rejected))})
	if err == nil || !strings.Contains(err.Error(), "rejects 2 profiles: too old") {
		t.Errorf("%v", err)
	}
	warned := protobuf.AppendBytes(nil, otlpproto.ResponsePartial, protobuf.AppendBytes(nil, otlpproto.PartialMessage, "will be gone"))
	if _, _, err := sent(t, reply{status: 200, body: string(warned)}); err != nil {
		t.Errorf("a warning: %v", err)
	}
}

func TestNew(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20abc, x-scope = team")
	c, err := New("otlp+https://host/otlp/profiles")
	if err != nil || c.String() != "https://host/otlp/profiles" || c.headers.Get("Authorization") != "Bearer abc" || c.headers.Get("X-Scope") != "team" {
		t.Errorf("%v, %v", c, err)
	}
	for _, bad := range []string{"otlp+ftp://host", "otlp+http://", "otlp+http://user:secret@%"} {
		if _, err := New(bad); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "secret")
	if _, err := New("otlp+http://host"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

// Whatever a collector answers becomes a text of one line.
func FuzzReply(f *testing.F) {
	f.Add([]byte("no\nsuch page"))
	f.Fuzz(func(t *testing.T, reply []byte) {
		if err := partial(reply); err != nil && err.Error() == "" {
			t.Error("an error without a text")
		}
		if text := statusMessage(reply); strings.ContainsAny(text, "\n\r\x1b") || len(text) > 3*200 || bytes.Contains([]byte(text), []byte{0}) {
			t.Errorf("%q", text)
		}
	})
}
