package gecko

import (
	"strconv"

	"gprof/stream"
)

// logs is what the recorder had to say, under the pid of its process.
type logs struct{}

// logLevels are the names of the levels.
var logLevels = [...]string{stream.LogInfo: "info", stream.LogWarn: "warning", stream.LogError: "error"}

func (logs) begin(s *Sink) {
	s.out.Key("profilingLog")
	s.out.BeginObject()
	s.out.Key(strconv.Itoa(s.of(s.process).OutPid))
	s.out.BeginObject()
	s.out.Key("log")
	s.out.BeginArray()
}

func (logs) rows(s *Sink, b *stream.Batch) {
	for i, at := range b.Time {
		level := strconv.FormatInt(b.Value[i], 10)
		if n := b.Value[i]; 0 <= n && int(n) < len(logLevels) {
			level = logLevels[n]
		}
		s.out.BeginObject()
		s.moment("time", at, true)
		s.member("level", level)
		s.member("text", text(&b.Args[0], i))
		s.out.EndObject()
	}
}

func (logs) end(s *Sink) {
	s.out.EndArray()
	s.out.EndObject()
	s.out.EndObject()
}
