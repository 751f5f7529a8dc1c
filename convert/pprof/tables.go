package pprof

import "gprof/stream"

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
	mapping, address := s.modules.place(frames[0])
	s.modules.note(mapping, frames)
	body := appendNumber(s.body[:0], locationID, number)
	body = appendNumber(body, locationMapping, mapping)
	body = appendNumber(body, locationAddress, address)
	for _, f := range frames {
		if f.Function != 0 {
			body = s.appendLine(body, f)
		}
	}
	s.message(profileLocation, body)
}

func (s *Sink) appendLine(dst []byte, f stream.Frame) []byte {
	s.line = appendNumber(s.line[:0], lineFunction, s.functions.number(f))
	s.line = appendNumber(s.line, lineNumber, uint64(max(0, f.Line)))
	return appendBytes(dst, locationLine, s.line)
}

func (s *Sink) writeFunctions() {
	for i, f := range s.functions.list {
		name := s.texts.number(s.tables.Strings.At(f.name))
		body := appendNumber(s.body[:0], functionID, uint64(i+1))
		body = appendNumber(body, functionName, name)
		body = appendNumber(body, functionSystem, name)
		body = appendNumber(body, functionFile, s.texts.number(s.tables.Strings.At(f.file)))
		s.message(profileFunction, appendNumber(body, functionStart, uint64(s.functions.starts[i])))
	}
}

// writeMappings writes the modules of which there are locations.
func (s *Sink) writeMappings() {
	for _, id := range s.modules.order {
		if s.modules.found[id].used {
			s.writeMapping(id)
		}
	}
}

func (s *Sink) writeMapping(id stream.ModuleID) {
	m, at, found := s.tables.Modules.At(id), s.modules.ranges[id], s.modules.found[id]
	file := m.Path
	if file == "" {
		file = m.Name
	}
	body := appendNumber(s.body[:0], mappingID, uint64(id))
	body = appendNumber(body, mappingStart, at.start)
	body = appendNumber(body, mappingLimit, at.limit)
	body = appendNumber(body, mappingFile, s.texts.number(file))
	body = appendNumber(body, mappingBuild, s.texts.number(m.Build))
	body = appendBool(body, mappingHasFunctions, !found.nameless)
	body = appendBool(body, mappingHasFiles, !found.nameless && !found.fileless)
	body = appendBool(body, mappingHasLines, !found.nameless && !found.lineless)
	s.message(profileMapping, appendBool(body, mappingHasInlined, !found.nameless && found.inlined))
}

func (s *Sink) writeTexts() {
	for _, text := range s.texts.list {
		s.buf = appendBytes(s.buf, profileString, text)
		s.flush(flushSize)
	}
}
