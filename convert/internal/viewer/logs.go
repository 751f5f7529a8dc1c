package viewer

import (
	"strconv"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// logLevels are the names of the levels.
var logLevels = [...]string{stream.LogInfo: "info", stream.LogWarn: "warning", stream.LogError: "error"}

// WriteLogs writes what the recorder had to say, as elements of a list.
func WriteLogs(out *jsontext.Writer, b *stream.Batch, start stream.Time) {
	for i, at := range b.Time {
		level := strconv.FormatInt(b.Value[i], 10)
		if n := b.Value[i]; 0 <= n && int(n) < len(logLevels) {
			level = logLevels[n]
		}
		out.BeginObject()
		moment(out, "time", at-start, true)
		member(out, "level", level)
		member(out, "text", text(&b.Args[0], i))
		out.EndObject()
	}
}
