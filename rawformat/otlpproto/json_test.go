package otlpproto

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"gprof/rawformat/protobuf"
)

// samples are messages of all kinds of fields.
func samples() (all []struct {
	typ  Type
	body []byte
	json string
}) {
	add := func(t Type, text string, body ...[]byte) {
		all = append(all, struct {
			typ  Type
			body []byte
			json string
		}{t, bytes.Join(body, nil), text})
	}
	number := func(field int, n uint64) []byte { return protobuf.AppendNumber(nil, field, n) }
	text := func(field int, s string) []byte { return protobuf.AppendBytes(nil, field, s) }
	add(Sample, `{"stackIndex":3,"attributeIndices":[1,300],"values":["-1","7"],"timestampsUnixNano":["1","2"]}`,
		number(SampleStack, 3), text(SampleAttributes, "\x01\xac\x02"),
		text(SampleValues, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x07"), text(SampleTimes, "\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00"))
	add(Link, `{"traceId":"0102","spanId":"ff"}`, text(LinkTrace, "\x01\x02"), text(LinkSpan, "\xff"))
	add(KeyAndValue, `{"key":"a\"<b","value":{"stringValue":""}}`, text(KeyName, `a"<b`), text(KeyValue, string(text(ValueString, ""))))
	add(AnyValue, `{"boolValue":true}`, number(ValueBool, 1))
	add(AnyValue, `{"boolValue":false}`, []byte{ValueBool << 3, 0})
	add(AnyValue, `{"intValue":"-5"}`, number(ValueInt, ^uint64(4)))
	add(AnyValue, `{"doubleValue":0.5}`, []byte{ValueDouble<<3 | 1, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f})
	add(AnyValue, `{"bytesValue":"AP8="}`, text(ValueBytes, "\x00\xff"))
	add(AnyValue, `{"arrayValue":{"values":[{"intValue":"1"},{}]}}`, text(ValueArray, string(text(ListValue, "\x18\x01"))+string(text(ListValue, ""))))
	add(Dictionary, `{"stackTable":[{},{"locationIndices":[1]}]}`, text(DictionaryStack, ""), text(DictionaryStack, "\x0a\x01\x01"))
	add(Dictionary, `{"stringTable":["","b"]}`, text(DictionaryString, ""), text(DictionaryString, "b"))
	add(Profile, `{"timeUnixNano":"9","durationNano":"18446744073709551615"}`, protobuf.AppendFixed64(nil, ProfileTime, 9), number(ProfileDuration, 1<<64-1))
	add(Data, `{}`)
	return all
}

func TestJSON(t *testing.T) {
	for _, tt := range samples() {
		got := tt.typ.AppendJSON([]byte("x"), tt.body)
		var same bytes.Buffer
		if err := json.Compact(&same, got[1:]); err != nil {
			t.Errorf("%s: %v", got, err)
		}
		var a, b any
		json.Unmarshal(got[1:], &a)
		json.Unmarshal([]byte(tt.json), &b)
		want, _ := json.Marshal(b)
		if text, _ := json.Marshal(a); !bytes.Equal(text, want) {
			t.Errorf("got %s\nwant %s", text, want)
		}
		for _, spaced := range []func(*bytes.Buffer){func(b *bytes.Buffer) { b.WriteString(tt.json) }, func(b *bytes.Buffer) { json.Indent(b, []byte(tt.json), " ", "\t") }} {
			var text bytes.Buffer
			spaced(&text)
			body, unknown, err := tt.typ.AppendProto([]byte("x"), text.Bytes())
			if err != nil || unknown != 0 || !bytes.Equal(body[1:], tt.body) {
				t.Errorf("%s: %x, %d, %v, want %x", tt.json, body, unknown, err, tt.body)
			}
		}
	}
}

// What others may write: other ways to say the same, fields of later versions, and values of wrong types.
func TestForeignJSON(t *testing.T) {
	for _, tt := range []struct {
		typ     Type
		text    string
		body    string
		unknown int64
		bad     bool
	}{
		{Sample, `{"values":[1,-1,1e2,"7"]}`, "\x22\x0d\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x64\x07", 0, false},
		{Sample, `{"stackIndex":"5","linkIndex":null}`, "\x08\x05", 0, false},
		{Sample, ` { "later" : [ { "a" : "]}" } , 1 ] , "stackIndex" : 5, "more":{},"evenMore":"\\\"" } `, "\x08\x05", 3, false},
		{Sample, `{"stackIndex":"x"}`, "", 0, true},
		{Sample, `{"values":{}}`, "", 0, true},
		{Sample, `{"values":["1.5"]}`, "", 0, true},
		{Sample, `[]`, "", 0, true},
		{Link, `{"traceId":"xy"}`, "", 0, true},
		{Link, `{"traceId":7}`, "", 0, true},
		{Mapping, `{"memoryStart":-1}`, "", 0, true},
	} {
		body, unknown, err := tt.typ.AppendProto(nil, []byte(tt.text))
		if tt.bad != errors.Is(err, ErrJSON) || !tt.bad && (string(body) != tt.body || unknown != tt.unknown) {
			t.Errorf("%s: %x, %d, %v", tt.text, body, unknown, err)
		}
	}
}

func FuzzJSON(f *testing.F) {
	for _, tt := range samples() {
		f.Add([]byte(tt.json))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for typ := range Type(len(types)) {
			body, _, err := typ.AppendProto(nil, text)
			if err != nil {
				continue
			}
			if again := typ.AppendJSON(nil, body); !json.Valid(again) {
				t.Errorf("%s becomes %s", text, again)
			}
		}
	})
}
