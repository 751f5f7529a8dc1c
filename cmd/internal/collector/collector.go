// Package collector sends requests to OpenTelemetry's collector, by OTLP over HTTP.
//
// See https://opentelemetry.io/docs/specs/otlp/#otlphttp.
package collector

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"gprof/rawformat/otlpproto"
	"gprof/rawformat/protobuf"
)

// Scheme begins the URL of a collector where an output is named; http or https follows.
const Scheme = "otlp+"

// path is where a collector takes profiles.
const path = "/v1development/profiles"

// Limits of sending.
const (
	timeout  = 30 * time.Second // of one attempt
	patience = time.Minute      // after which a request is not repeated
	maxWait  = 30 * time.Second // between two attempts, if the collector asks for no more
	maxReply = 64 << 10         // bytes
)

// Client sends to one collector.
type Client struct {
	url     *url.URL
	headers http.Header
	http    *http.Client
}

// New returns the client of a URL such as otlp+http://localhost:4318. Without a path it is the usual
// one. Headers, such as those that prove who sends, come from OTEL_EXPORTER_OTLP_HEADERS, as for other
// senders.
func New(to string) (*Client, error) {
	u, err := url.Parse(strings.TrimPrefix(to, Scheme))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s: want a URL such as %shttp://localhost:4318", to[strings.LastIndex(to, "@")+1:], Scheme) // without a password
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = path
	}
	headers, err := headersOf(os.Getenv("OTEL_EXPORTER_OTLP_HEADERS"))
	if err != nil {
		return nil, err
	}
	return &Client{u, headers, &http.Client{Timeout: timeout}}, nil
}

// headersOf parses headers as KEY=VALUE,KEY=VALUE, whose values are encoded as in a URL.
func headersOf(list string) (http.Header, error) {
	headers := http.Header{}
	for pair := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if key = strings.TrimSpace(key); !ok || err != nil || key == "" {
			return nil, errors.New("OTEL_EXPORTER_OTLP_HEADERS: want KEY=VALUE,KEY=VALUE") // the value may be a secret
		}
		headers.Add(key, value)
	}
	return headers, nil
}

// String is the collector's URL, without a password.
func (c *Client) String() string { return c.url.Redacted() }

// refusal is a reply that is no success.
type refusal struct {
	status  string
	message string
	after   time.Duration // for which the collector asks to wait; below 0: not to come again
}

func (r *refusal) Error() string {
	if r.message == "" {
		return "it answered " + r.status
	}
	return fmt.Sprintf("it answered %s: %s", r.status, r.message)
}

// Send sends a request, and repeats it while the collector is down or busy. An error says that the
// collector doesn't have all of it, or may not have.
func (c *Client) Send(message []byte) error {
	body, err := packed(message)
	if err != nil {
		return err
	}
	begun := time.Now()
	for wait := time.Second; ; wait = min(2*wait, maxWait) {
		err := c.try(body)
		if err == nil {
			return nil
		}
		pause := wait/2 + rand.N(wait/2)
		if r, ok := errors.AsType[*refusal](err); ok {
			if r.after < 0 {
				return fmt.Errorf("%v takes no profiles: %w%s", c, err, c.hint(r))
			}
			pause = max(pause, r.after)
		}
		if time.Since(begun)+pause >= patience {
			return fmt.Errorf("%v: given up after %v, send it again when the collector is up: %w", c, patience, err)
		}
		time.Sleep(pause)
	}
}

// hint says what to do about a refusal.
func (c *Client) hint(r *refusal) string {
	switch r.status[:min(3, len(r.status))] {
	case "404":
		return "; is its service.profilesSupport on, and has its OTLP receiver a pipeline of profiles?"
	case "401", "403":
		return "; OTEL_EXPORTER_OTLP_HEADERS can hold what it asks for"
	case "413":
		return "; give its receiver a larger max_request_body_size"
	}
	return ""
}

func packed(message []byte) ([]byte, error) {
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	if _, err := z.Write(message); err != nil {
		return nil, err
	}
	err := z.Close()
	return body.Bytes(), err
}

// try sends a request once.
func (c *Client) try(body []byte) error {
	q, err := http.NewRequest(http.MethodPost, c.url.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	q.Header = c.headers.Clone()
	q.Header.Set("Content-Type", "application/x-protobuf")
	q.Header.Set("Content-Encoding", "gzip")
	q.Header.Set("User-Agent", "gprof")
	q.Header.Set(otlpproto.DevelopmentVersionHeader, otlpproto.DevelopmentVersion)
	a, err := c.http.Do(q)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(a.Body, maxReply))
	switch {
	case a.StatusCode/100 == 2 && err != nil:
		return err
	case a.StatusCode/100 == 2:
		return partial(reply)
	}
	return &refusal{a.Status, statusMessage(reply), retryAfter(a)}
}

// retryAfter is how long to wait before a request is repeated; below 0: it is not. The specification
// lists the states that pass.
func retryAfter(a *http.Response) time.Duration {
	switch a.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		return -1
	}
	text := a.Header.Get("Retry-After")
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return min(time.Duration(n)*time.Second, patience)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, min(time.Until(at), patience))
	}
	return 0
}

// partial is the error of a reply that says which profiles were rejected.
func partial(reply []byte) error {
	m := protobuf.Message{Rest: reply}
	for v, ok := m.Read(); ok; v, ok = m.Read() {
		if v.Number != otlpproto.ResponsePartial {
			continue
		}
		var rejected uint64
		var message string
		inner := protobuf.Message{Rest: v.Bytes}
		for v, ok := inner.Read(); ok; v, ok = inner.Read() {
			switch v.Number {
			case otlpproto.PartialRejected:
				rejected = v.Value
			case otlpproto.PartialMessage:
				message = string(v.Bytes)
			}
		}
		if rejected > 0 {
			return &refusal{fmt.Sprintf("that it rejects %d profiles", rejected), message, -1}
		}
	}
	return nil
}

// statusMessage is the text of a google.rpc.Status, or else the reply itself if it is text.
func statusMessage(reply []byte) string {
	const message = 2
	m := protobuf.Message{Rest: reply}
	for v, ok := m.Read(); ok; v, ok = m.Read() {
		if v.Number == message && v.Wire == protobuf.Bytes {
			return printable(v.Bytes)
		}
	}
	return printable(reply)
}

// printable is the beginning of a text, on one line.
func printable(text []byte) string {
	const most = 200
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(text[:min(len(text), most)]), ""))
	return strings.TrimSpace(clean)
}
