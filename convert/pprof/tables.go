package pprof

import (
	"cmp"

	"gprof/rawformat/profileproto"
	"gprof/stream"
)

// writeLocations writes the locations that samples have, in the order of their
// numbers.
func (s *Sink) writeLocations() {
	for i, at := range s.locations.list {
		s.frames = s.frames[:0]
		for _, id := range s.locations.frames(at) {
			s.frames = append(s.frames, s.tables.Frames.At(id))
		}
		s.writeLocation(uint64(i+1), s.frames)
	}
}

// writeLocation writes a location of frames, the innermost first.
func (s *Sink) writeLocation(number uint64, frames []stream.Frame) {
	mapping, address := s.modules.place(frames)
	s.modules.note(mapping, frames)
	body := appendNumber(s.body[:0], profileproto.LocationID, number)
	body = appendNumber(body, profileproto.LocationMapping, uint64(mapping))
	body = appendNumber(body, profileproto.LocationAddress, address)
	for _, f := range frames {
		if f.Function != 0 {
			body = s.appendLine(body, f)
		}
	}
	s.message(profileproto.ProfileLocation, body)
}

func (s *Sink) appendLine(dst []byte, f stream.Frame) []byte {
	s.line = appendNumber(s.line[:0], profileproto.LineFunction, s.functions.number(f))
	s.line = appendNumber(s.line, profileproto.LineNumber, uint64(max(0, f.Line)))
	return appendBytes(dst, profileproto.LocationLine, s.line)
}

func (s *Sink) writeFunctions() {
	for i, f := range s.functions.list {
		name := s.texts.number(s.tables.Strings.At(f.name))
		body := appendNumber(s.body[:0], profileproto.FunctionID, uint64(i+1))
		body = appendNumber(body, profileproto.FunctionName, name)
		body = appendNumber(body, profileproto.FunctionSystem, name)
		body = appendNumber(body, profileproto.FunctionFile, s.texts.number(s.tables.Strings.At(f.file)))
		s.message(profileproto.ProfileFunction, appendNumber(body, profileproto.FunctionStart, uint64(s.functions.starts[i])))
	}
}

// writeMappings writes the mappings in which there are locations, and those that came.
func (s *Sink) writeMappings() {
	for i := range s.modules.list {
		if m := &s.modules.list[i]; m.found.used || m.came {
			s.writeMapping(i+1, m)
		}
	}
}

func (s *Sink) writeMapping(number int, at *mapping) {
	m, has := s.tables.Modules.At(at.module), at.has()
	body := appendNumber(s.body[:0], profileproto.MappingID, uint64(number))
	body = appendNumber(body, profileproto.MappingStart, at.start)
	body = appendNumber(body, profileproto.MappingLimit, at.limit)
	body = appendNumber(body, profileproto.MappingOffset, at.offset)
	body = appendNumber(body, profileproto.MappingFile, s.texts.number(cmp.Or(at.path, m.Path, m.Name)))
	body = appendNumber(body, profileproto.MappingBuild, s.texts.number(m.Build))
	body = appendBool(body, profileproto.MappingHasFunctions, has&stream.NamesFunctions != 0)
	body = appendBool(body, profileproto.MappingHasFiles, has&stream.NamesFiles != 0)
	body = appendBool(body, profileproto.MappingHasLines, has&stream.NamesLines != 0)
	s.message(profileproto.ProfileMapping, appendBool(body, profileproto.MappingHasInlined, has&stream.NamesInlined != 0))
}

func (s *Sink) writeTexts() {
	for _, text := range s.texts.list {
		s.buf = appendBytes(s.buf, profileproto.ProfileString, text)
		s.flush(flushSize)
	}
}
