package pprof

import (
	"cmp"

	"gprof/convert/internal/locations"
	"gprof/rawformat/profileproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
)

// writeLocations writes the locations that samples have, in the order of their
// numbers.
func (s *Sink) writeLocations() {
	for i := range s.locations.Len() {
		s.frames = s.frames[:0]
		ids := s.locations.Frames(i + 1)
		for _, id := range ids {
			s.frames = append(s.frames, s.tables.Frames.At(id))
		}
		s.writeLocation(uint64(i+1), ids, s.frames)
	}
}

// writeLocation writes a location of frames, the innermost first.
func (s *Sink) writeLocation(number uint64, ids []stream.FrameID, frames []stream.Frame) {
	mapping, address := s.modules.Place(frames)
	s.modules.Note(mapping, frames)
	body := protobuf.AppendNumber(s.body[:0], profileproto.LocationID, number)
	body = protobuf.AppendNumber(body, profileproto.LocationMapping, uint64(mapping))
	body = protobuf.AppendNumber(body, profileproto.LocationAddress, address)
	for i, f := range frames {
		if f.Function != 0 {
			body = s.appendLine(body, ids[i], f)
		}
	}
	s.message(profileproto.ProfileLocation, body)
}

func (s *Sink) appendLine(dst []byte, id stream.FrameID, f stream.Frame) []byte {
	s.line = protobuf.AppendNumber(s.line[:0], profileproto.LineFunction, s.functions.Number(s.tables, id, f))
	s.line = protobuf.AppendNumber(s.line, profileproto.LineNumber, uint64(max(0, f.Line)))
	return protobuf.AppendBytes(dst, profileproto.LocationLine, s.line)
}

func (s *Sink) writeFunctions() {
	number := uint64(0)
	for f, start := range s.functions.All() {
		number++
		name := s.texts.Number(s.tables.Strings.At(f.Name))
		body := protobuf.AppendNumber(s.body[:0], profileproto.FunctionID, number)
		body = protobuf.AppendNumber(body, profileproto.FunctionName, name)
		linked := name
		if f.IsLinked {
			linked = s.texts.Number(f.Linked)
		}
		body = protobuf.AppendNumber(body, profileproto.FunctionSystem, linked)
		body = protobuf.AppendNumber(body, profileproto.FunctionFile, s.texts.Number(s.tables.Strings.At(f.File)))
		s.message(profileproto.ProfileFunction, protobuf.AppendNumber(body, profileproto.FunctionStart, uint64(start)))
	}
}

// writeMappings writes the mappings with locations, and imported ones.
func (s *Sink) writeMappings() {
	for i := range s.modules.List {
		if m := &s.modules.List[i]; m.Used() || m.Came {
			s.writeMapping(i+1, m)
		}
	}
}

func (s *Sink) writeMapping(number int, at *locations.Mapping) {
	m, has := s.tables.Modules.At(at.Module), at.Has()
	body := protobuf.AppendNumber(s.body[:0], profileproto.MappingID, uint64(number))
	body = protobuf.AppendNumber(body, profileproto.MappingStart, at.Start)
	body = protobuf.AppendNumber(body, profileproto.MappingLimit, at.Limit)
	body = protobuf.AppendNumber(body, profileproto.MappingOffset, at.Offset)
	body = protobuf.AppendNumber(body, profileproto.MappingFile, s.texts.Number(cmp.Or(at.Path, m.Path, m.Name)))
	body = protobuf.AppendNumber(body, profileproto.MappingBuild, s.texts.Number(m.Build))
	body = protobuf.AppendBool(body, profileproto.MappingHasFunctions, has&stream.NamesFunctions != 0)
	body = protobuf.AppendBool(body, profileproto.MappingHasFiles, has&stream.NamesFiles != 0)
	body = protobuf.AppendBool(body, profileproto.MappingHasLines, has&stream.NamesLines != 0)
	s.message(profileproto.ProfileMapping, protobuf.AppendBool(body, profileproto.MappingHasInlined, has&stream.NamesInlined != 0))
}

func (s *Sink) writeTexts() {
	for _, text := range s.texts.All() {
		s.buf = protobuf.AppendBytes(s.buf, profileproto.ProfileString, text)
		s.flush(flushSize)
	}
}
