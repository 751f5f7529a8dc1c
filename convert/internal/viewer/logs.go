package viewer

import (
	"strconv"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// Logs writes the log of a process as Gecko does, under its pid: from when to when was recorded, what
// the recorder said, and what became of its chunks. The last has the name of Gecko's one controller;
// here each process discards its own chunks.
type Logs struct {
	Out   *jsontext.Writer
	Start stream.Time // 0 of the output

	process *stream.Process
}

// Begin begins the log of p.
func (l *Logs) Begin(p *stream.Process) {
	l.process = p
	l.Out.Object(p.OutPid)
	moment(l.Out, "profilingLogBegin_TSms", p.Start-l.Start, p.Start != 0)
	moment(l.Out, "profilingLogEnd_TSms", p.End-l.Start, p.End != 0)
	l.Out.Array("log")
}

// Rows writes what the recorder said.
func (l *Logs) Rows(b *stream.Batch) {
	for i, at := range b.Time {
		level := strconv.FormatInt(b.Value[i], 10)
		if n := b.Value[i]; 0 <= n && int(n) < len(logLevels) {
			level = logLevels[n]
		}
		l.Out.BeginObject()
		moment(l.Out, "time", at-l.Start, true)
		l.Out.Member("level", level)
		l.Out.Member("text", text(&b.Args[0], i))
		l.Out.EndObject()
	}
}

// logLevels are the names of the levels.
var logLevels = [...]string{stream.LogInfo: "info", stream.LogWarn: "warning", stream.LogError: "error"}

// End ends the log.
func (l *Logs) End() {
	l.Out.EndArray()
	if len(l.process.Chunks) > 0 {
		l.controller()
	}
	l.Out.EndObject()
}

func (l *Logs) controller() {
	p := l.process
	l.Out.Object("bufferGlobalController")
	moment(l.Out, "controllerCreationTime_TSms", p.Start-l.Start, p.Start != 0)
	moment(l.Out, "logBegin_TSms", p.Chunks[0].Time-l.Start, true)
	l.Out.Value("updatesSchema", `["0: pid","1: chunkRelease_TSms","2: chunkDiff","3: bytes"]`)
	l.Out.Array("updates")
	for _, c := range p.Chunks {
		l.update(c)
	}
	if p.Exit.Known {
		l.update(stream.ChunkChange{Time: p.End}) // as Gecko says that a process has ended
	}
	l.Out.EndArray()
	l.Out.EndObject()
}

func (l *Logs) update(c stream.ChunkChange) {
	l.Out.BeginArray()
	l.Out.RawBytes(AppendPid(nil, l.process))
	l.Out.Fixed(int64(c.Time-l.Start), 6)
	l.Out.Int(c.Chunks)
	l.Out.Int(c.Bytes)
	l.Out.EndArray()
}
