package convert

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"gprof/convert/internal/tables"
	"gprof/stream"
	"gprof/stream/redact"
	"gprof/stream/streamtest"
)

// secrets are the places where a recording may hold what nobody should read,
// each with a word that is nowhere else.
type secrets map[string]string

// in is the word of a place.
func (s secrets) in(place string) string {
	word := fmt.Sprintf("zq%02dplanted", len(s))
	s[place] = word
	return word
}

// number is a number of a place.
func (s secrets) number(place string) uint64 {
	n := 31415926535897 + uint64(len(s))
	s[place] = fmt.Sprint(n)
	return n
}

const plantedAt stream.Time = 1_795_000_000_000_000_000

// plant makes a recording with a secret in every place.
func plant(b *streamtest.Builder) secrets {
	s := secrets{}
	p := b.Process(stream.Process{
		Instance: 0xfeedface, Pid: 7, Name: "shop", Service: "checkout", Version: "1.2", Start: plantedAt, End: plantedAt + 1e9,
		Host: s.in("host"), Clock: stream.Clock{Boot: s.in("boot")}, Exe: "/opt/" + s.in("exe") + "/shop", Args: []string{"shop", "--password=" + s.in("args")},
		Attrs: []stream.Attr{{Key: "customer", Value: s.in("attribute")}}, SelfTests: []stream.Attr{{Key: "environment", Value: s.in("self-test")}}, Exit: stream.Exit{Known: true, Reason: "panicked", Text: s.in("exit")},
	})
	b.Process(stream.Process{Instance: 0xfeedfacf, Pid: 8, Service: "checkout", Host: s["host"], Start: plantedAt + 1, Name: `C:\Users\` + s.in("program of another system") + `\shop.exe`})
	s.plantFields(b, p)
	s.plantCode(b, p)
	s.plantNames(b, p)
	s.plantRows(b, p)
	s.plantPlaces(b)
	return s
}

func (s secrets) plantFields(b *streamtest.Builder, p *streamtest.Process) {
	text := func(name string, f stream.Format, k stream.Privacy) stream.EventField {
		return stream.EventField{Name: name, Type: stream.Text, Format: f, Privacy: k}
	}
	number := func(name string, k stream.Privacy) stream.EventField {
		return stream.EventField{Name: name, Type: stream.Uint, Format: stream.FormatInteger, Privacy: k}
	}
	fields := []stream.EventField{
		text("path", stream.FormatPath, stream.PrivacyPath), text("url", stream.FormatURL, stream.PrivacyURL),
		text("user", stream.FormatText, stream.PrivacyUser), text("secret", stream.FormatText, stream.PrivacySecret),
		text("name", stream.FormatString, stream.PrivacyUser), text("file", stream.FormatPath, stream.PrivacyPlain),
		text("address", stream.FormatURL, stream.PrivacyPlain), number("account", stream.PrivacyUser), number("pin", stream.PrivacySecret),
		number("odd", stream.PrivacyPlain),
	}
	args := []any{"/home/" + s.in("path") + "/x", "https://" + s.in("url host") + ".example/" + s.in("url path") + "?t=" + s.in("url query"), s.in("user"), s.in("secret"),
		s.in("repeating user"), "/" + s.in("plain path"), "//" + s.in("plain url"), s.number("account"), s.number("pin"), s.in("text for a number")}
	e := b.Event(stream.Event{Name: "request", Fields: fields, Display: stream.ShowChart | stream.ShowTable})
	p.Main.Mark(plantedAt, stream.Instant, e, args...)
	p.Main.Interval(plantedAt, 5, e, args...)
	undefined := b.Event(stream.Event{Name: "event 9", Fields: []stream.EventField{text("arg0", stream.FormatText, stream.PrivacySecret)}})
	p.Main.Mark(plantedAt, stream.Instant, undefined, s.in("undefined"))
	untyped := b.Event(stream.Event{Name: "note", Fields: []stream.EventField{text("text", stream.FormatText, stream.PrivacyPlain)}})
	p.Main.Mark(plantedAt, stream.Instant, untyped, s.in("text marker"))
}

func (s secrets) plantCode(b *streamtest.Builder, p *streamtest.Process) {
	module := b.Tables.Modules.Intern(stream.Module{Build: "abc", Path: "/opt/" + s.in("module") + "/shop", Name: "shop"})
	nameless := b.Tables.Modules.Intern(stream.Module{Path: "/opt/" + s.in("module without a build id") + "/lib.so", Name: "lib.so"})
	intern := b.Tables.Strings.Intern
	stack := b.StackOf(
		stream.Frame{Module: module, Offset: 16, Function: intern("main.main"), File: intern("/home/" + s.in("source file") + "/main.go"), Line: 3},
		stream.Frame{Label: true, Function: intern(s.in("label"))},
		stream.Frame{Module: nameless, Offset: 32})
	p.Main.Sample(plantedAt, stack)
	p.Main.Add(streamtest.Row{Time: plantedAt + 1, Stack: stack, Weight: 1000, CPU: 5})
}

func (s secrets) plantNames(b *streamtest.Builder, p *streamtest.Process) {
	work := b.Stack("main.main", "main.work")
	for _, t := range []*streamtest.Track{
		p.Track(s.in("track")),
		p.TrackOf(stream.Track{Name: s["label"], Root: true}),
	} {
		t.Sample(plantedAt, work)
		t.Delay(plantedAt, 7)
	}
	p.Count(plantedAt, p.Counter(stream.Counter{Name: s.in("counter"), Description: s.in("description"), Category: s.in("group")}), 1, 2)
	p.Count(plantedAt, p.Counter(stream.Counter{Name: "thread 12 " + s.in("thread"), Own: true}), 1, 2)
}

func (s secrets) plantRows(b *streamtest.Builder, p *streamtest.Process) {
	labels := b.Tables.Labels.Intern(stream.NewLabelSet(stream.Attr{Key: "customer", Value: s.in("label")}, stream.Attr{Key: "route", Value: "/" + s.in("another label")}))
	p.Main.Add(streamtest.Row{Time: plantedAt + 2, Weight: 1, CPU: 5, Owner: stream.Owner{Thread: 7, Goroutine: 8, Labels: labels}})
	p.Log(plantedAt, stream.LogWarn, "cannot open "+s.in("log"))
	p.Page(plantedAt, stream.PhaseStart, 1, 2, 0, 0, "https://"+s.in("page host")+".example/"+s.in("page"))
	p.Page(plantedAt, stream.PhaseStart, 1, 3, 0, 1, "https://"+s.in("private page"))
}

func (s secrets) plantPlaces(b *streamtest.Builder) {
	const of = "00000000feedface"
	for _, l := range []stream.Line{
		{Reason: stream.ReasonUnreadable, What: "inputs", Where: s.in("input")},
		{Reason: stream.ReasonTorn, What: "members", Where: "a/" + s.in("member") + "/chunk-00000"},
		{Reason: stream.ReasonUnreadable, What: "chunks", Where: "chunk-00000: open /home/" + s.in("error"), Process: of},
		{Reason: stream.ReasonExpired, What: "events of tracks", Where: s.in("expired track"), Process: of},
		{Reason: stream.ReasonExpired, What: "values of counters", Where: s.in("expired counter"), Process: of},
		{Reason: stream.ReasonDropped, What: "samples", Where: s.in("place"), Process: of},
	} {
		l.Count = 1
		b.Tables.Ledger.Add(l)
	}
}

// everyRedaction are ways to redact that must let no secret through.
var everyRedaction = map[string]redact.Options{
	"default": {Secrets: redact.Drop, Users: redact.Hash, URLs: redact.Hash, Paths: redact.Hash, Names: redact.Hash, Key: []byte("key")},
	"hash":    {Secrets: redact.Hash, Users: redact.Hash, URLs: redact.Hash, Paths: redact.Hash, Names: redact.Hash, Key: []byte("key")},
	"drop":    {Secrets: redact.Drop, Users: redact.Drop, URLs: redact.Drop, Paths: redact.Drop, Names: redact.Drop},
}

// No format lets a secret through; and each would, if nothing were redacted.
func TestRedact(t *testing.T) {
	anywhere := map[string]bool{}
	for _, f := range Formats() {
		t.Run(f.Name, func(t *testing.T) {
			planted, open := written(t, f, nil)
			found := planted.within(open)
			bare := f.Name == "pgo" // it has functions alone
			if len(found) == 0 != bare {
				t.Error("no secret is found without redaction: then none can be missed")
			}
			for _, place := range found {
				anywhere[place] = true
			}
			for name, how := range everyRedaction {
				planted, hidden := written(t, f, &how)
				if found := planted.within(hidden); len(found) > 0 {
					t.Errorf("%s: found the secret of: %s", name, strings.Join(found, ", "))
				}
				if !bare && !strings.Contains(string(bytes.Join(hidden, nil)), "checkout") {
					t.Errorf("%s: nothing is left", name)
				}
			}
		})
	}
	for place := range plant(streamtest.NewBuilder()) {
		if !anywhere[place] && place != "self-test" { // which gprof-convert info shows
			t.Errorf("no format has %s, so that nobody would see it slip through", place)
		}
	}
}

// written is all that can be read in the output of a format.
func written(t *testing.T, f Format, how *redact.Options) (secrets, [][]byte) {
	t.Helper()
	b := streamtest.NewBuilder()
	planted := plant(b)
	var src stream.Source = b.Source()
	if how != nil {
		src = redact.New(*how).Source(src)
	}
	files := &inMemory{}
	sink, err := newSink(f, files)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Copy(sink, src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	var views [][]byte
	for _, file := range files.files {
		views = append(views, []byte(file.name))
		views = append(views, read(t, file.Bytes(), 0)...)
	}
	return planted, views
}

func newSink(f Format, files *inMemory) (stream.Sink, error) {
	if f.Directory() {
		return f.NewIn(files, Options{Compression: tables.None}), nil
	}
	out, err := files.Create("out")
	if err != nil {
		return nil, err
	}
	return f.New(out, Options{Gzip: true})
}

// inMemory is a Directory.
type inMemory struct{ files []*memoryFile }

type memoryFile struct {
	bytes.Buffer
	name string
}

func (*memoryFile) Close() error { return nil }

func (m *inMemory) Create(name string) (io.WriteCloser, error) {
	f := &memoryFile{name: name}
	m.files = append(m.files, f)
	return f, nil
}

// within are the places whose secrets are in one of the texts.
func (s secrets) within(texts [][]byte) (places []string) {
	for place, word := range s {
		for _, text := range texts {
			if holds(text, word) {
				places = append(places, place)
				break
			}
		}
	}
	slices.Sort(places)
	return places
}

// holds says whether a text holds a word in 8 or 16 bits a letter, or the number
// that it is in 64 bits.
func holds(text []byte, word string) bool {
	if bytes.Contains(text, []byte(word)) || bytes.Contains(bytes.ReplaceAll(text, []byte{0}, nil), []byte(word)) {
		return true
	}
	n, err := strconv.ParseUint(word, 10, 64)
	return err == nil && bytes.Contains(text, binary.LittleEndian.AppendUint64(nil, n))
}

var encoded = regexp.MustCompile(`[A-Za-z0-9+/_-]{16,}`)

// read returns data and all that is packed in it, however often.
func read(t *testing.T, data []byte, depth int) [][]byte {
	t.Helper()
	all := [][]byte{data}
	if depth > 4 {
		return all
	}
	for _, inner := range unpack(t, data) {
		all = append(all, read(t, inner, depth+1)...)
	}
	return all
}

// unpack returns what is packed in data in one of the ways that formats pack.
func unpack(t *testing.T, data []byte) (inner [][]byte) {
	t.Helper()
	add := func(r io.Reader, err error) {
		if err == nil {
			text, _ := io.ReadAll(r) // as far as it goes
			inner = append(inner, text)
		}
	}
	if z, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
		add(z, nil)
		return inner
	}
	if bytes.HasPrefix(data, []byte("PAR1")) {
		return append(inner, parquetText(t, data))
	}
	if bytes.HasPrefix(data, []byte("\x89PNG")) {
		return append(inner, pngText(t, data)...)
	}
	for _, at := range indexes(data, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
		z, err := zstd.NewReader(bytes.NewReader(data[at:]), zstd.WithDecoderConcurrency(1))
		if err == nil {
			add(z, nil)
			z.Close()
		}
	}
	for _, run := range encoded.FindAll(data, -1) {
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for skip := range 4 { // where it begins is not known
				text := run[skip:]
				if got, _ := e.DecodeString(string(text[:len(text)&^3])); len(got) > 0 {
					inner = append(inner, got)
				}
			}
		}
	}
	return inner
}

func indexes(data, sep []byte) (all []int) {
	for at := 0; ; {
		i := bytes.Index(data[at:], sep)
		if i < 0 {
			return all
		}
		all = append(all, at+i)
		at += i + 1
	}
}

// parquetText is all values of a file, and what is said of it.
func parquetText(t *testing.T, data []byte) []byte {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Appendf(nil, "%v %v", f.Schema(), f.Metadata())
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		defer rows.Close()
		for buf := make([]parquet.Row, 16); ; {
			n, err := rows.ReadRows(buf)
			for _, row := range buf[:n] {
				for _, v := range row {
					text = fmt.Append(text, v, "\n")
				}
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return text
}

// pngText is the content of all chunks of a PNG file.
func pngText(t *testing.T, data []byte) (texts [][]byte) {
	t.Helper()
	for at := 8; at+12 <= len(data); {
		n := int(binary.BigEndian.Uint32(data[at:]))
		if at+12+n > len(data) {
			t.Fatal("a chunk is cut short")
		}
		body := data[at+8 : at+8+n]
		texts = append(texts, body)
		for i := range body {
			if z, err := zlib.NewReader(bytes.NewReader(body[i:])); err == nil {
				text, _ := io.ReadAll(z)
				texts = append(texts, text)
				break
			}
		}
		at += 12 + n
	}
	return texts
}
