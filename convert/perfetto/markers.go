package perfetto

import (
	"hash/fnv"

	"gprof/convert/internal/timeline"
	pb "gprof/rawformat/perfettoproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
)

// eventForm is what all markers of an event begin with, and the names of their arguments.
type eventForm struct {
	head      []byte // category
	name      uint64
	nameArg   int
	fields    []stream.EventField
	arguments []uint64
	owner     ownerNames
}

// ownerNames are the names of the arguments that say who a row is of.
type ownerNames struct{ goroutine, thread, label uint64 }

// formOf makes the form of an event.
func (s *Sink) formOf(e *stream.Event) (f eventForm) {
	category := "Other"
	if e.Category != 0 {
		category = s.tables.Categories.At(e.Category).Title()
	}
	f.head = protobuf.AppendNumber(nil, pb.EventCategory, s.names.number(pb.InternedCategory, category))
	f.name, f.nameArg, f.fields = s.names.number(pb.InternedEventName, e.Name), e.NameArg(), e.Fields
	for i := range e.Fields {
		f.arguments = append(f.arguments, s.names.number(pb.InternedAnnotationName, e.Fields[i].Name))
	}
	f.owner = s.ownerNamesOf(e)
	return f
}

func (s *Sink) ownerNamesOf(e *stream.Event) ownerNames {
	own := func(name string) uint64 { return s.names.number(pb.InternedAnnotationName, timeline.OwnName(e, name)) }
	return ownerNames{own("goroutine"), own("thread"), own("label")}
}

// addMarkers collects the markers of an event.
func (s *Sink) addMarkers(b *stream.Batch) {
	if s.lanes == nil {
		s.lanes = s.newLanes(s.thread.uuid, s.thread.uuid, s.thread.name)
	}
	if s.marks.Begin(b.Series) {
		s.form = s.formOf(s.tables.Event(b.Series.Event))
	}
	for i := range b.Time {
		s.collect(b, i, &s.form, b.Stack[i], b.Owner(i))
	}
}

// collect adds row i to the marks.
func (s *Sink) collect(b *stream.Batch, i int, form *eventForm, stack stream.StackID, owner stream.Owner) {
	m := timeline.MarkAt(b, i)
	body := append(s.body[:0], form.head...)
	if k := form.nameArg; k >= 0 && b.Args[k].TypeAt(i) == stream.Text {
		name := cleanBytes(b.Args[k].TextAt(i))
		body = protobuf.AppendBytes(body, pb.EventName, name)
		hash := fnv.New64a()
		hash.Write(name)
		m.Match = hash.Sum64()
	} else {
		body = protobuf.AppendNumber(body, pb.EventNameID, form.name)
	}
	for k := range form.fields {
		body = s.appendArgument(body, form.arguments[k], &form.fields[k], &b.Args[k], i)
	}
	body = protobuf.AppendNumber(body, pb.EventCallstack, s.code.stack(stack))
	m.Body = s.appendOwner(body, form.owner, owner)
	s.body = m.Body
	s.marks.Add(&m)
}

// appendOwner appends who a row is of, as arguments.
func (s *Sink) appendOwner(dst []byte, names ownerNames, o stream.Owner) []byte {
	if o.Goroutine != 0 {
		dst = appendInt(dst, names.goroutine, o.Goroutine)
	}
	if o.Thread != 0 && uint64(o.Thread) != s.thread.tid {
		dst = appendInt(dst, names.thread, o.Thread)
	}
	if o.Labels == 0 {
		return dst
	}
	annotation := protobuf.AppendNumber(nil, pb.AnnotationNameID, names.label)
	for key, value := range s.tables.Labels.At(o.Labels).All() {
		entry := protobuf.AppendBytes(nil, pb.AnnotationName, clean(key))
		annotation = protobuf.AppendBytes(annotation, pb.AnnotationDict, protobuf.AppendBytes(entry, pb.AnnotationString, clean(value)))
	}
	return protobuf.AppendBytes(dst, pb.EventAnnotation, annotation)
}

// appendInt appends an argument that is a number.
func appendInt(dst []byte, name uint64, n int64) []byte {
	annotation := protobuf.AppendNumber(nil, pb.AnnotationNameID, name)
	return protobuf.AppendBytes(dst, pb.EventAnnotation, protobuf.AppendValue(annotation, pb.AnnotationInt, uint64(n)))
}

// appendArgument appends an argument, and the flow that it may be. It leaves out what has no value.
func (s *Sink) appendArgument(dst []byte, name uint64, f *stream.EventField, c *stream.Column, i int) []byte {
	typ := c.TypeAt(i)
	if typ == stream.Null {
		return dst
	}
	annotation := protobuf.AppendNumber(s.annotation[:0], pb.AnnotationNameID, name)
	switch typ {
	case stream.Text, stream.JSON:
		annotation = appendText(annotation, typ, c.TextAt(i))
	default:
		annotation = appendNumeric(annotation, f.Format, typ, c.BitsAt(i))
	}
	s.annotation = annotation
	return appendFlow(protobuf.AppendBytes(dst, pb.EventAnnotation, annotation), f.Format, c, i)
}

// appendNumeric appends a number as its format wants it.
func appendNumeric(dst []byte, format stream.Format, typ stream.Type, bits uint64) []byte {
	switch {
	case typ == stream.Float:
		return appendFixed(dst, pb.AnnotationDouble, bits)
	case format == stream.FormatBool:
		return protobuf.AppendValue(dst, pb.AnnotationBool, min(bits, 1))
	case format == stream.FormatHexadecimal, format == stream.FormatFlow, format == stream.FormatFlowEnd:
		return protobuf.AppendValue(dst, pb.AnnotationPointer, bits)
	case typ == stream.Uint:
		return protobuf.AppendValue(dst, pb.AnnotationUint, bits)
	}
	return protobuf.AppendValue(dst, pb.AnnotationInt, bits)
}

// appendFlow appends the flow that an argument names, if it does. A text is one by its hash.
func appendFlow(dst []byte, format stream.Format, c *stream.Column, i int) []byte {
	field := pb.EventFlow
	switch format {
	case stream.FormatFlow:
	case stream.FormatFlowEnd:
		field = pb.EventTerminatingFlow
	default:
		return dst
	}
	if c.TypeAt(i).Textual() {
		hash := fnv.New64a()
		hash.Write(c.TextAt(i))
		return appendFixed(dst, field, hash.Sum64())
	}
	return appendFixed(dst, field, c.BitsAt(i))
}
