package otlp

import (
	"encoding/binary"
	"io"

	"gprof/rawformat/otlpproto"
	"gprof/rawformat/protobuf"
)

// form is how a message is written. The output keeps errors.
type form interface {
	begin()
	// process writes a process: its resource and its profiles.
	process(resource []byte, all []head)
	dictionary(parts []*part)
}

// head is a profile: its fields, and its samples, which are fields of it.
type head struct {
	fields  []byte
	samples profile
}

func (h *head) size() int64 { return int64(len(h.fields)) + h.samples.size }

// drain gives the samples in blocks of whole fields. The file keeps errors.
func (h *head) drain(each func(block []byte)) {
	if h.samples.samples != nil {
		h.samples.samples.Drain(each)
	}
}

// scope says who made the profiles.
var scope = protobuf.AppendBytes(nil, otlpproto.ScopeName, "gprof")

// protoForm is Protocol Buffers.
type protoForm struct {
	out io.Writer
	buf []byte
}

func (f *protoForm) begin() {}

func (f *protoForm) process(resource []byte, all []head) {
	inner := protobuf.AppendBytes(nil, otlpproto.ScopeProfilesScope, scope)
	scopeSize := int64(len(inner))
	for i := range all {
		scopeSize += fieldSize(otlpproto.ScopeProfilesProfile, all[i].size())
	}
	before := protobuf.AppendBytes(nil, otlpproto.ResourceProfilesResource, resource)
	f.buf = appendHeader(f.buf[:0], otlpproto.DataResource, int64(len(before))+fieldSize(otlpproto.ResourceProfilesScope, scopeSize))
	f.buf = append(f.buf, before...)
	f.buf = appendHeader(f.buf, otlpproto.ResourceProfilesScope, scopeSize)
	f.buf = append(f.buf, inner...)
	for i := range all {
		f.buf = appendHeader(f.buf, otlpproto.ScopeProfilesProfile, all[i].size())
		f.buf = append(f.buf, all[i].fields...)
		f.out.Write(f.buf)
		all[i].drain(func(block []byte) { f.out.Write(block) })
		f.buf = f.buf[:0]
	}
	f.out.Write(f.buf)
}

func (f *protoForm) dictionary(parts []*part) {
	size := int64(0)
	for _, p := range parts {
		size += p.size
	}
	f.out.Write(appendHeader(nil, otlpproto.DataDictionary, size))
	for _, p := range parts {
		p.rows.Drain(func(block []byte) { f.out.Write(block) })
	}
}

// appendHeader appends the beginning of a message of that size.
func appendHeader(dst []byte, field int, size int64) []byte {
	return binary.AppendUvarint(protobuf.AppendTag(dst, field, protobuf.Bytes), uint64(size))
}

// fieldSize is the size of a message with its beginning.
func fieldSize(field int, size int64) int64 {
	return int64(len(appendHeader(nil, field, size))) + size
}

// jsonForm is the JSON of Protocol Buffers, as OpenTelemetry uses it.
type jsonForm struct {
	out  io.Writer
	buf  []byte
	some bool // a process was written
}

func (f *jsonForm) begin() { io.WriteString(f.out, `{"resourceProfiles":[`) }

func (f *jsonForm) process(resource []byte, all []head) {
	f.buf = f.buf[:0]
	if f.some {
		f.buf = append(f.buf, ',')
	}
	f.some = true
	f.buf = otlpproto.Resource.AppendJSON(append(f.buf, `{"resource":`...), resource)
	f.buf = otlpproto.Scope.AppendJSON(append(f.buf, `,"scopeProfiles":[{"scope":`...), scope)
	f.buf = append(f.buf, `,"profiles":[`...)
	for i := range all {
		if i > 0 {
			f.buf = append(f.buf, ',')
		}
		f.buf = otlpproto.Profile.AppendJSON(f.buf, all[i].fields)
		f.buf = append(f.buf[:len(f.buf)-1], `,"samples":[`...)
		list := jsonList{f, otlpproto.Sample, false}
		all[i].drain(list.add)
		f.buf = append(f.buf, "]}"...)
	}
	f.out.Write(append(f.buf, "]}]}"...))
}

func (f *jsonForm) dictionary(parts []*part) {
	f.buf = append(f.buf[:0], `],"dictionary":{`...)
	for i, p := range parts {
		if i > 0 {
			f.buf = append(f.buf, ',')
		}
		field := otlpproto.Dictionary.ByNumber(p.field)
		f.buf = append(append(append(f.buf, '"'), field.Name...), `":[`...)
		list := jsonList{f, field.Of, false}
		if field.Kind == otlpproto.String {
			p.rows.Drain(list.addTexts)
		} else {
			p.rows.Drain(list.add)
		}
		f.buf = append(f.buf, ']')
	}
	f.out.Write(append(f.buf, "}}\n"...))
}

// jsonList writes messages that are fields of one number.
type jsonList struct {
	f    *jsonForm
	of   otlpproto.Type
	some bool
}

func (l *jsonList) add(block []byte) {
	l.each(block, func(body []byte) { l.f.buf = l.of.AppendJSON(l.f.buf, body) })
}

func (l *jsonList) addTexts(block []byte) {
	l.each(block, func(text []byte) { l.f.buf = otlpproto.AppendText(l.f.buf, text) })
}

func (l *jsonList) each(block []byte, add func(body []byte)) {
	m := protobuf.Message{Rest: block}
	for v, ok := m.Read(); ok; v, ok = m.Read() {
		if l.some {
			l.f.buf = append(l.f.buf, ',')
		}
		l.some = true
		add(v.Bytes)
	}
	l.f.out.Write(l.f.buf)
	l.f.buf = l.f.buf[:0]
}
