package viewer

import (
	"strconv"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// AppendPid appends what a Gecko profile calls a process by: its pid, a number, or a
// text where several processes have the same pid, which the viewer would show as one.
func AppendPid(dst []byte, p *stream.Process) []byte {
	if p.OutPid == strconv.Itoa(p.Pid) {
		return append(dst, p.OutPid...)
	}
	return jsontext.AppendString(dst, p.OutPid)
}
