package otlp

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gprof/rawformat/otlpproto"
	"gprof/rawformat/profileproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
	"gprof/stream/wording"
)

// The attributes of samples that are not labels of the program.
const (
	keyTrack     = "thread.name"
	keyGoroutine = "goroutine"
)

// owned is who a sample is of.
type owned struct {
	track stream.TrackID
	stream.Owner
}

// ownedFields are what a sample says of that: the numbers of its attributes and of its link.
type ownedFields struct {
	attributes []byte
	link       uint64
}

// maxOwned bounds those that are kept, some MB.
const maxOwned = 1 << 14

// fieldsOf are the fields of a sample that say who it is of.
func (s *Sink) fieldsOf(of owned) ownedFields {
	fields, ok := s.owned[of]
	if !ok {
		if len(s.owned) == maxOwned {
			clear(s.owned)
		}
		fields.attributes, fields.link = s.attributesOf(of.track, of.Owner)
		s.owned[of] = fields
	}
	return fields
}

// attributesOf are the numbers of a sample's attributes, and of its link.
func (s *Sink) attributesOf(track stream.TrackID, owner stream.Owner) (numbers []byte, link uint64) {
	add := func(key string, value []byte, unit string) {
		numbers = binary.AppendUvarint(numbers, s.attribute(key, value, unit))
	}
	if name := s.tables.Tracks.At(track).Name; name != "" && s.came.Alone == nil {
		add(keyTrack, textValue(name), "")
	}
	if owner.Goroutine != 0 {
		add(keyGoroutine, intValue(int64(owner.Goroutine)), "")
	}
	to := owner.Span
	if owner.Labels == 0 {
		return numbers, s.link(to)
	}
	labels := s.tables.Labels.At(owner.Labels)
	linked := to == (stream.Span{}) // by its labels, perhaps
	if linked {
		to = labels.Span()
		linked = to.ID != 0
	}
	for key, value := range labels.All() {
		if linked && (key == stream.LabelTrace || key == stream.LabelSpan) {
			continue
		}
		if s.tables.NumericLabel(key) {
			if digits, unit, _ := strings.Cut(value, " "); !strings.Contains(value, ",") {
				if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
					add(s.programKey(key), intValue(n), unit)
					continue
				}
			}
		}
		add(s.programKey(key), textValue(value), "")
	}
	if owner.Span == (stream.Span{}) && !linked {
		return numbers, 0
	}
	return numbers, s.link(to)
}

// programKey is the key of a label of the program.
func (s *Sink) programKey(key string) string {
	if s.came.Alone == nil && (key == keyTrack || key == keyGoroutine) {
		return "label." + key
	}
	return key
}

// profileKeys are attributes of a process that a profile has a field for in pprof's format; the default
// type is another one's.
var profileKeys = []string{"comment", "doc_url", "drop_frames", "keep_frames", "default_sample_type"}

// resourceOf is a process as a resource, by the semantic conventions. What its attributes say in these
// terms, as those of a file in this format may, comes before what is known otherwise.
func resourceOf(p *stream.Process) (body []byte) {
	said := func(key string) bool {
		return slices.ContainsFunc(p.Attrs, func(a stream.Attr) bool { return a.Key == key })
	}
	put := func(key string, value []byte) {
		pair := protobuf.AppendBytes(nil, otlpproto.KeyName, valid(key))
		body = protobuf.AppendBytes(body, otlpproto.ResourceAttribute, protobuf.AppendBytes(pair, otlpproto.KeyValue, value))
	}
	add := func(key string, value []byte) {
		if !said(key) {
			put(key, value)
		}
	}
	addText := func(key, value string) {
		if value != "" {
			add(key, textValue(value))
		}
	}
	service := p.Service
	if service == "" && p.Name != "" {
		service = "unknown_service:" + p.Name
	}
	addText("service.name", service)
	addText("service.version", p.Version)
	addText("service.instance.id", p.InstanceName())
	addText("vcs.ref.head.revision", p.Revision)
	addText("host.name", p.Host)
	addText("host.arch", p.Arch)
	addText("host.cpu.model.name", p.CPUName)
	addText("os.type", p.OS)
	if p.Pid != 0 {
		add("process.pid", intValue(int64(p.Pid)))
	}
	addText("process.executable.name", p.Name)
	addText("process.executable.path", p.Exe)
	if len(p.Args) > 0 {
		add("process.command_args", textsValue(p.Args))
	}
	if p.Go != "" {
		addText("process.runtime.name", "go")
		addText("process.runtime.version", p.Go)
	}
	for _, a := range p.Attrs {
		if a.Value != "" && !slices.Contains(profileKeys, a.Key) {
			put(a.Key, textValue(a.Value))
		}
	}
	return body
}

// profileAttributes are the numbers of a profile's attributes; only the first one of a process has
// comments.
func (s *Sink) profileAttributes(p *stream.Process, first bool) (numbers []byte) {
	add := func(key string, value []byte) {
		numbers = binary.AppendUvarint(numbers, s.attribute(key, value, ""))
	}
	if !first {
		return nil
	}
	var comments []string
	for _, line := range s.known {
		if line.Process == "" && s.process == 1 || line.Process == p.InstanceName() {
			comments = append(comments, "# "+wording.Remark(line))
		}
	}
	if unknown := s.unknown + p.Profile.UnknownCPU; unknown > 0 {
		comments = append(comments, fmt.Sprintf(profileproto.CommentUnknownCPU, unknown))
	}
	for _, a := range p.Attrs {
		switch a.Key {
		case "drop_frames", "keep_frames", "doc_url":
			add("pprof.profile."+a.Key, textValue(a.Value))
		case "comment":
			comments = append(comments, strings.Split(a.Value, "\n")...)
		}
	}
	if p.Profile.Default != "" {
		add("pprof.scope.default_sample_type", textValue(p.Profile.Default))
	}
	if len(comments) > 0 {
		add("pprof.profile.comment", textsValue(comments))
	}
	return numbers
}

// valid is a text as strict readers want it.
func valid(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

// textValue is a text as an AnyValue.
func textValue(text string) []byte {
	return protobuf.AppendBytes(nil, otlpproto.ValueString, valid(text))
}

func intValue(n int64) []byte {
	return binary.AppendUvarint(protobuf.AppendTag(nil, otlpproto.ValueInt, protobuf.Varint), uint64(n))
}

func textsValue(texts []string) []byte {
	var list []byte
	for _, text := range texts {
		list = protobuf.AppendBytes(list, otlpproto.ListValue, textValue(text))
	}
	return protobuf.AppendBytes(nil, otlpproto.ValueArray, list)
}
