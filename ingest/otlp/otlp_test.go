package otlp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"gprof/ingest/internal/damage"
	"gprof/rawformat/otlpproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
)

// field is a field of a message: a number, a text, numbers that are packed, or messages.
func field(number int, value any) (message []byte) {
	switch v := value.(type) {
	case int:
		return protobuf.AppendNumber(nil, number, uint64(v))
	case string:
		return protobuf.AppendBytes(nil, number, v)
	case []int:
		var packed []byte
		for _, n := range v {
			packed = binary.AppendUvarint(packed, uint64(n))
		}
		return protobuf.AppendBytes(nil, number, packed)
	case []byte:
		return protobuf.AppendBytes(nil, number, v)
	}
	panic("no such field")
}

func join(parts ...[]byte) []byte { return slices.Concat(parts...) }

// texts are those of the files here.
var texts = []string{"", "samples", "count", "cpu", "nanoseconds", "main.main", "main.work", "main.go", "thread.name", "worker", "/srv/shop"}

// tables is a dictionary with two stacks, and more rows.
func tables(more ...[]byte) []byte {
	d := join(field(otlpproto.DictionaryMapping, ""), field(otlpproto.DictionaryMapping, field(otlpproto.MappingFile, 10)),
		field(otlpproto.DictionaryLocation, ""),
		field(otlpproto.DictionaryLocation, join(field(otlpproto.LocationMapping, 1), field(otlpproto.LocationAddress, 64), field(otlpproto.LocationLine, join(field(otlpproto.LineFunction, 1), field(otlpproto.LineNumber, 7))))),
		field(otlpproto.DictionaryLocation, join(field(otlpproto.LocationMapping, 1), field(otlpproto.LocationAddress, 96), field(otlpproto.LocationLine, field(otlpproto.LineFunction, 2)))),
		field(otlpproto.DictionaryFunction, ""),
		field(otlpproto.DictionaryFunction, join(field(otlpproto.FunctionName, 5), field(otlpproto.FunctionFile, 7))),
		field(otlpproto.DictionaryFunction, join(field(otlpproto.FunctionName, 6), field(otlpproto.FunctionFile, 7))),
		field(otlpproto.DictionaryLink, ""), field(otlpproto.DictionaryAttribute, ""),
		field(otlpproto.DictionaryStack, ""), field(otlpproto.DictionaryStack, field(otlpproto.StackLocations, []int{1})), field(otlpproto.DictionaryStack, field(otlpproto.StackLocations, []int{2, 1})))
	for _, text := range texts {
		d = append(d, field(otlpproto.DictionaryString, text)...)
	}
	return field(otlpproto.DataDictionary, join(append([][]byte{d}, more...)...))
}

func typed(name, unit int) []byte {
	return field(otlpproto.ProfileType, join(field(otlpproto.TypeName, name), field(otlpproto.TypeUnit, unit)))
}

func sampled(stack int, values []int, times []uint64, more ...[]byte) []byte {
	body := field(otlpproto.SampleStack, stack)
	if values != nil {
		body = append(body, field(otlpproto.SampleValues, values)...)
	}
	if times != nil {
		var packed []byte
		for _, at := range times {
			packed = append(packed, protobuf.AppendFixed64(nil, 1, at)[1:]...)
		}
		body = append(body, field(otlpproto.SampleTimes, packed)...)
	}
	return field(otlpproto.ProfileSample, join(append([][]byte{body}, more...)...))
}

// resourceWith is a resource whose profiles these are.
func resourceWith(profiles ...[]byte) []byte {
	var scope []byte
	for _, p := range profiles {
		scope = append(scope, field(otlpproto.ScopeProfilesProfile, p)...)
	}
	return field(otlpproto.DataResource, field(otlpproto.ResourceProfilesScope, scope))
}

func opener(data []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
}

// slowly opens a file of which reading gives a few bytes at once.
func slowly(data []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(few{bytes.NewReader(data)}), nil }
}

type few struct{ io.Reader }

func (f few) Read(p []byte) (int, error) { return f.Reader.Read(p[:min(len(p), 7)]) }

// rowsOf are the rows of a file as text, sorted, and its ledger without the process.
func rowsOf(t testing.TB, data []byte) (rows, ledger []string, err error) {
	t.Helper()
	return rowsFrom(t, opener(data))
}

func rowsFrom(t testing.TB, open func() (io.ReadCloser, error)) (rows, ledger []string, err error) {
	t.Helper()
	f, err := Open(open)
	if f == nil {
		return nil, nil, err
	}
	tables := &stream.Tables{Processes: f.Processes()}
	var ids []stream.ProcessID
	for i := range tables.Processes {
		ids = append(ids, stream.ProcessID(i+1))
	}
	src := f.Source(tables, ids, 0)
	var b stream.Batch
	for {
		if end := src.Next(&b); end == io.EOF {
			break
		} else if end != nil {
			t.Fatal(end)
		}
		for i := range b.Len() {
			rows = append(rows, rowOf(tables, &b, i))
		}
	}
	if c, ok := src.(io.Closer); ok {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, line := range tables.Ledger.Lines() {
		ledger = append(ledger, fmt.Sprintf("%v %s %s %d", line.Reason, line.What, line.Where, line.Count))
	}
	slices.Sort(rows)
	return rows, ledger, err
}

func rowOf(t *stream.Tables, b *stream.Batch, i int) string {
	text := fmt.Sprintf("%d %d %s", b.Time[i], b.Series.Process, t.Tracks.At(b.Series.Track).Name)
	switch b.Series.Kind {
	case stream.Samples:
		text += fmt.Sprintf(" weight %d cpu %d", b.Weight[i], b.CPU[i])
	default:
		text += fmt.Sprintf(" value %d", b.Value[i])
	}
	for id := b.Stack[i]; id != 0; {
		var frame stream.FrameID
		id, frame = t.Stacks.At(id)
		text += " " + t.Strings.At(t.Frames.At(frame).Function)
	}
	owner := b.Owner(i)
	if owner.Goroutine != 0 {
		text += fmt.Sprint(" goroutine ", owner.Goroutine)
	}
	if owner.Span != (stream.Span{}) {
		text += " span " + owner.Span.IDText() + " of " + owner.Span.TraceText()
	}
	if owner.Labels != 0 {
		for key, value := range t.Labels.At(owner.Labels).All() {
			text += " " + key + "=" + value
		}
	}
	return text
}

func expect(t *testing.T, data []byte, want ...string) (ledger []string) {
	t.Helper()
	rows, ledger, err := rowsOf(t, data)
	if err != nil || !slices.Equal(rows, want) {
		t.Errorf("%v\n%s\nwant\n%s", err, strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
	return ledger
}

// Profiles with the same samples are one: samples with their CPU time. Those with other samples are not.
func TestTogether(t *testing.T) {
	times := []uint64{1000, 2000}
	counts := join(typed(1, 2), sampled(2, []int{1, 2}, times), sampled(1, []int{3}, times[:1]))
	cpu := join(typed(3, 4), sampled(2, []int{10, 20}, times), sampled(1, []int{30}, times[:1]))
	expect(t, join(resourceWith(counts, cpu), tables()),
		"1000 1 shop weight 1 cpu 10 main.work main.main", "1000 1 shop weight 3 cpu 30 main.main", "2000 1 shop weight 2 cpu 20 main.work main.main")
	other := join(typed(3, 4), sampled(2, []int{10, 20}, times), sampled(2, []int{30}, times[:1]))
	expect(t, join(tables(), resourceWith(counts, other)),
		"1000 1 cpu value 10 main.work main.main", "1000 1 cpu value 30 main.work main.main", "1000 1 shop weight 1 cpu -1 main.work main.main", "1000 1 shop weight 3 cpu -1 main.main",
		"2000 1 cpu value 20 main.work main.main", "2000 1 shop weight 2 cpu -1 main.work main.main")
}

// A sample may have times without values, and values without times.
func TestShapes(t *testing.T) {
	expect(t, join(resourceWith(join(typed(1, 2), sampled(1, nil, []uint64{5, 6}))), tables()), "5 1 shop weight 1 cpu -1 main.main", "6 1 shop weight 1 cpu -1 main.main")
	spread := join(typed(1, 2), sampled(1, []int{4}, nil), sampled(2, []int{5}, nil), protobuf.AppendFixed64(nil, otlpproto.ProfileTime, 1000), field(otlpproto.ProfileDuration, 400))
	ledger := expect(t, join(resourceWith(spread), tables()), "1100 1 shop weight 4 cpu -1 main.main", "1300 1 shop weight 5 cpu -1 main.work main.main")
	if len(ledger) != 1 || !strings.Contains(ledger[0], "spread over 400ns 2") {
		t.Errorf("%q", ledger)
	}
}

// Many processes, of which each has other types of values, are read in their order.
func TestResources(t *testing.T) {
	one := resourceWith(join(typed(1, 2), sampled(1, nil, []uint64{1})))
	two := resourceWith(join(typed(1, 2), sampled(1, []int{2}, []uint64{2})), join(typed(3, 4), sampled(1, []int{20}, []uint64{2})), join(typed(2, 2), sampled(1, []int{7}, []uint64{3})))
	none := resourceWith()
	rows, ledger, err := rowsOf(t, join(one, two, none, one, tables(), two))
	want := []string{"1 1 unnamed program weight 1 cpu -1 main.main", "1 4 unnamed program weight 1 cpu -1 main.main", "2 2 unnamed program weight 2 cpu 20 main.main",
		"2 5 unnamed program weight 2 cpu 20 main.main", "3 2 count value 7 main.main", "3 5 count value 7 main.main"}
	if err != nil || !slices.Equal(rows, want) || len(ledger) != 0 {
		t.Errorf("%q, %q, %v", rows, ledger, err)
	}
}

// text is an attribute of the dictionary, whose key is a string's number.
func attributeRow(key int, value []byte, unit int) []byte {
	return field(otlpproto.DictionaryAttribute, join(field(otlpproto.AttributeKey, key), field(otlpproto.AttributeValue, value), field(otlpproto.AttributeUnit, unit)))
}

// What a sample is of becomes its track, goroutine and labels. A link with ids of a wrong length is told.
func TestWhose(t *testing.T) {
	more := [][]byte{
		field(otlpproto.DictionaryString, "goroutine"), field(otlpproto.DictionaryString, "label.goroutine"), field(otlpproto.DictionaryString, "size"), field(otlpproto.DictionaryString, "bytes"),
		attributeRow(8, field(otlpproto.ValueStringRef, 9), 0), attributeRow(11, field(otlpproto.ValueInt, 42), 0), attributeRow(12, field(otlpproto.ValueString, "x"), 0), attributeRow(13, field(otlpproto.ValueInt, 512), 14),
		field(otlpproto.DictionaryLink, join(field(otlpproto.LinkTrace, strings.Repeat("\x11", 16)), field(otlpproto.LinkSpan, strings.Repeat("\x22", 8)))),
		field(otlpproto.DictionaryLink, join(field(otlpproto.LinkTrace, "short"), field(otlpproto.LinkSpan, strings.Repeat("\x22", 8)))),
	}
	profile := join(typed(1, 2), sampled(1, []int{1}, []uint64{1}, field(otlpproto.SampleAttributes, []int{1, 2, 3, 4, 0}), field(otlpproto.SampleLink, 1)),
		sampled(1, []int{1}, []uint64{2}, field(otlpproto.SampleLink, 2)), sampled(1, []int{1}, []uint64{3}, field(otlpproto.SampleAttributes, []int{99})))
	ledger := expect(t, join(resourceWith(profile), tables(more...)),
		"1 1 worker weight 1 cpu -1 main.main goroutine 42 span "+strings.Repeat("22", 8)+" of "+strings.Repeat("11", 16)+" goroutine=x size=512 bytes",
		"2 1 shop weight 1 cpu -1 main.main", "3 1 shop weight 1 cpu -1 main.main")
	if text := strings.Join(ledger, "\n"); len(ledger) != 2 || !strings.Contains(text, "links to a span 1") || !strings.Contains(text, "numbers of rows  1") {
		t.Errorf("%q", ledger)
	}
}

// Fields of a later state of the specification are told, and a file of an earlier one is refused.
func TestOtherStates(t *testing.T) {
	profile := join(typed(1, 2), sampled(1, []int{1}, []uint64{1}), field(29, "later"))
	ledger := expect(t, join(resourceWith(profile), tables(), field(9, "later")), "1 1 shop weight 1 cpu -1 main.main")
	if len(ledger) != 1 || !strings.HasSuffix(ledger[0], "profiles 2") {
		t.Errorf("%q", ledger)
	}
	before := field(otlpproto.DataDictionary, join(field(otlpproto.DictionaryLocation, ""), field(otlpproto.DictionaryString, "")))
	if _, _, err := rowsOf(t, join(resourceWith(profile), before)); !errors.Is(err, ErrProfile) || !strings.Contains(err.Error(), "no table of stacks") {
		t.Errorf("%v", err)
	}
}

// A file that is cut short gives what is intact, if it has tables; the error says where it ends.
func TestTorn(t *testing.T) {
	profile := join(typed(1, 2), sampled(1, []int{1}, []uint64{1}), sampled(1, []int{1}, []uint64{2}))
	data := join(tables(), resourceWith(profile))
	rows, _, err := rowsOf(t, data[:len(data)-1])
	if !errors.Is(err, damage.ErrTorn) || len(rows) != 1 {
		t.Errorf("%q, %v", rows, err)
	}
	data = join(resourceWith(profile), tables())
	if rows, _, err := rowsOf(t, data[:len(data)-200]); !errors.Is(err, damage.ErrTorn) || rows != nil {
		t.Errorf("without tables: %q, %v", rows, err)
	}
	wrong := join(tables(), resourceWith(join(typed(1, 2), sampled(1, []int{1}, []uint64{1}), field(otlpproto.ProfileSample, 7))))
	if rows, _, err := rowsOf(t, wrong); !errors.Is(err, damage.ErrDamaged) || len(rows) != 1 {
		t.Errorf("a sample that is a number: %q, %v", rows, err)
	}
}

// Samples that make no sense, and code that is not there, are told.
func TestMalformed(t *testing.T) {
	profile := join(typed(1, 2), sampled(1, []int{1, 2, 3}, []uint64{1, 2}), sampled(1, nil, nil), sampled(77, []int{1}, []uint64{3}), field(otlpproto.ProfileSample, []byte{0x22, 9}))
	ledger := expect(t, join(resourceWith(profile), tables()), "3 1 shop weight 1 cpu -1 (undefined location)")
	if text := strings.Join(ledger, "\n"); len(ledger) != 2 || !strings.Contains(text, "samples  3") || !strings.Contains(text, "numbers of rows  1") {
		t.Errorf("%q", ledger)
	}
}

// JSON is read as protobuf is; what is wrong with it is told with an offset.
func TestJSON(t *testing.T) {
	data := join(resourceWith(join(typed(1, 2), sampled(2, []int{1}, []uint64{1}))), tables())
	text := otlpproto.Data.AppendJSON(nil, data)
	if !SniffJSON(text) || Sniff(text) || SniffJSON(data) || !Sniff(data) {
		t.Error("what they are is not seen")
	}
	expect(t, text, "1 1 shop weight 1 cpu -1 main.work main.main")
	later := bytes.Replace(text, []byte("{"), []byte(`{"later":[1],`), 1)
	if ledger := expect(t, later, "1 1 shop weight 1 cpu -1 main.work main.main"); len(ledger) != 1 || !strings.HasSuffix(ledger[0], "profiles 1") {
		t.Errorf("%q", ledger)
	}
	var at *damage.Error
	if _, _, err := rowsOf(t, text[:len(text)-1]); !errors.Is(err, damage.ErrTorn) || !errors.As(err, &at) || at.Off != int64(len(text)-1) {
		t.Errorf("cut short: %v", err)
	}
	if _, _, err := rowsOf(t, append(text[:9:9], '?')); !errors.As(err, &at) {
		t.Errorf("damaged: %v", err)
	}
}

// The collector's file exporter writes a message on each line, with tables of its own. What its resource
// says in several is one process; a line that is cut short loses itself only.
func TestLines(t *testing.T) {
	named := func(name string) []byte {
		pair := join(field(otlpproto.KeyName, "service.name"), field(otlpproto.KeyValue, field(otlpproto.ValueString, name)))
		return field(otlpproto.ResourceProfilesResource, field(otlpproto.ResourceAttribute, pair))
	}
	line := func(name string, stack int, at uint64) string {
		scope := field(otlpproto.ResourceProfilesScope, field(otlpproto.ScopeProfilesProfile, join(typed(1, 2), sampled(stack, []int{1}, []uint64{at}))))
		return string(otlpproto.Data.AppendJSON(nil, join(field(otlpproto.DataResource, join(named(name), scope)), tables()))) + "\n"
	}
	lines := line("cart", 1, 1) + line("shop", 2, 2) + "\n" + line("cart", 2, 3)
	want := []string{"1 1 shop weight 1 cpu -1 main.main", "2 2 shop weight 1 cpu -1 main.work main.main", "3 1 shop weight 1 cpu -1 main.work main.main"}
	expect(t, []byte(lines), want...)
	rows, _, err := rowsOf(t, []byte(lines[:len(lines)-9]))
	var at *damage.Error
	if !slices.Equal(rows, want[:2]) || !errors.Is(err, damage.ErrTorn) || !errors.As(err, &at) || at.Off != int64(len(lines)-9) {
		t.Errorf("%q, %v", rows, err)
	}
	one := strings.ReplaceAll(line("cart", 1, 1), ",", ",\n ") // as people lay it out
	expect(t, []byte(one), want[0])
}

// The collector's file exporter writes protobuf with the length of each message before it.
func TestPrefixed(t *testing.T) {
	var data []byte
	var ends []int
	for i := range 3 {
		one := join(resourceWith(join(typed(1, 2), sampled(1+i%2, []int{1}, []uint64{uint64(1 + i)}))), tables())
		data = append(binary.BigEndian.AppendUint32(data, uint32(len(one))), one...)
		ends = append(ends, len(data))
	}
	if !Sniff(data) {
		t.Error("it is not seen what that is")
	}
	want := []string{"1 1 shop weight 1 cpu -1 main.main", "2 1 shop weight 1 cpu -1 main.work main.main", "3 1 shop weight 1 cpu -1 main.main"}
	expect(t, data, want...)
	var at *damage.Error
	for _, cut := range []int{ends[1] + 2, ends[1] + 3 + prefixBytes, ends[2] - 100} {
		rows, _, err := rowsOf(t, data[:cut])
		if !slices.Equal(rows, want[:2]) || !errors.Is(err, damage.ErrTorn) || errors.As(err, &at) && (at.Off < int64(ends[1]) || at.Off > int64(cut)) {
			t.Errorf("cut at %d of %d: %q, %v", cut, ends, rows, err)
		}
	}
}

// Reading may give a few bytes at once, and files of many messages may be too large to be held.
func TestWindows(t *testing.T) {
	one := join(resourceWith(join(typed(1, 2), sampled(2, []int{1, 2}, []uint64{1, 2})), join(typed(3, 4), sampled(2, []int{1, 2}, []uint64{1, 2}))), tables())
	text := otlpproto.Data.AppendJSON(nil, one)
	later := bytes.Replace(text, []byte("{"), []byte(`{ "later":[{"a":"]}\\\""},1], `), 1)
	lines := bytes.Repeat(append(later, '\n'), 3)
	for _, data := range [][]byte{one, text, later, lines, lines[:len(lines)-20], text[:len(text)/2]} {
		want, wantLedger, wantErr := rowsOf(t, data)
		rows, ledger, err := rowsFrom(t, slowly(data))
		if !slices.Equal(rows, want) || !slices.Equal(ledger, wantLedger) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%q, %q, %v, want %q, %q, %v", rows, ledger, err, want, wantLedger, wantErr)
		}
	}
	padding := bytes.Repeat([]byte(" "), maxHeld)
	if rows, _, err := rowsOf(t, slices.Concat(text, padding, []byte("\n"), text, padding, text)); err != nil || len(rows) != 6 {
		t.Errorf("%q, %v", rows, err)
	}
	large := bytes.Replace(text, []byte("{"), slices.Concat([]byte(`{"later":"`), bytes.Repeat([]byte("x"), maxHeld), []byte(`",`)), 1)
	if rows, ledger, err := rowsOf(t, slices.Concat(large, text, large)); err != nil || len(rows) != 6 || len(ledger) != 1 {
		t.Errorf("%q, %q, %v", rows, ledger, err)
	}
}

// Values are texts as people write them, however deep they are in each other.
func TestValues(t *testing.T) {
	pair := func(key string, value []byte) []byte {
		return field(otlpproto.ListValue, join(field(otlpproto.KeyName, key), field(otlpproto.KeyValue, value)))
	}
	array := join(field(otlpproto.ListValue, field(otlpproto.ValueString, "a")), field(otlpproto.ListValue, protobuf.AppendBool(nil, otlpproto.ValueBool, true)))
	for want, message := range map[string][]byte{
		"a, true":  field(otlpproto.ValueArray, array),
		"k=-, l=1": field(otlpproto.ValueList, join(pair("l", field(otlpproto.ValueInt, 1)), pair("k", field(otlpproto.ValueString, "-")))),
		"0.5":      protobuf.AppendFixed64(nil, otlpproto.ValueDouble, 0x3fe0000000000000),
		"0aff":     field(otlpproto.ValueBytes, "\x0a\xff"),
	} {
		if got := (&dictionary{}).value(message, 0); got.text != want {
			t.Errorf("%q, want %q", got.text, want)
		}
	}
	deep := field(otlpproto.ValueInt, 1)
	for range 1000 {
		deep = field(otlpproto.ValueArray, field(otlpproto.ListValue, deep))
	}
	if got := (&dictionary{}).value(deep, 0); got.text != "" {
		t.Errorf("%q", got.text)
	}
}

// Any input is read to an end, with rows for no more than its size allows.
func FuzzOpen(f *testing.F) {
	whole := join(resourceWith(join(typed(1, 2), sampled(2, []int{1, 2}, []uint64{1, 2})), join(typed(3, 4), sampled(2, []int{1, 2}, []uint64{1, 2}))), tables())
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(join(tables(), resourceWith(join(typed(1, 2), sampled(1, []int{1}, nil)))))
	f.Add(otlpproto.Data.AppendJSON(nil, whole))
	f.Add(append(append(otlpproto.Data.AppendJSON(nil, whole), '\n'), otlpproto.Data.AppendJSON(nil, whole)...))
	f.Add(append(binary.BigEndian.AppendUint32(nil, uint32(len(whole))), whole...))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, _, err := rowsOf(t, data)
		if len(rows) > len(data) {
			t.Errorf("%d rows of %d bytes", len(rows), len(data))
		}
		if again, _, err2 := rowsFrom(t, slowly(data)); !slices.Equal(again, rows) || fmt.Sprint(err) != fmt.Sprint(err2) {
			t.Errorf("read slowly: %q, %v, want %q, %v", again, err2, rows, err)
		}
	})
}
