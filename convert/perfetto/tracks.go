package perfetto

import (
	"gprof/convert/internal/timeline"
	pb "gprof/rawformat/perfettoproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
)

// places are the tracks of a process.
type places struct {
	process uint64
	threads map[stream.TrackID]uint64
	main    uint64            // the thread of the main track, or the process
	parts   map[string]uint64 // below the process, by name
}

// threadAt is the thread of a track.
type threadAt struct {
	uuid, below uint64 // its track, and one below it
	kind        string // of the rows there
	pid, tid    uint64
	name        string
}

// beginProcess describes a process and its threads.
func (s *Sink) beginProcess(id stream.ProcessID) {
	s.process, s.track = id, 0
	s.counts = map[counterKey]counterTrack{}
	p := s.tables.Process(id)
	s.places = places{process: s.nextUUID(), threads: map[stream.TrackID]uint64{}, parts: map[string]uint64{}}
	s.places.main = s.places.process
	body := protobuf.AppendNumber(nil, pb.TrackUUID, s.places.process)
	s.describe(protobuf.AppendBytes(body, pb.TrackProcess, s.processOf(id, p)))
	s.recordings = append(s.recordings, s.child(s.places.process, "recording"))
	for track := stream.TrackID(1); int(track) <= s.tables.Tracks.Len(); track++ {
		if of := s.tables.Tracks.At(track); of.Process == id {
			s.describeThread(track, of)
		}
	}
}

// processOf is a process as Perfetto knows it.
func (s *Sink) processOf(id stream.ProcessID, p *stream.Process) []byte {
	body := protobuf.AppendNumber(nil, pb.ProcessPid, uint64(s.numbers.Pids[id]))
	for _, arg := range p.Args {
		body = protobuf.AppendBytes(body, pb.ProcessCommand, clean(arg))
	}
	body = protobuf.AppendBytes(body, pb.ProcessName, clean(timeline.Program(p)))
	if p.Start > 0 {
		body = protobuf.AppendNumber(body, pb.ProcessStart, uint64(p.Start))
	}
	return protobuf.AppendBytes(body, pb.ProcessLabel, clean(p.Title()))
}

// describeThread describes the thread of a track.
func (s *Sink) describeThread(id stream.TrackID, of stream.Track) {
	uuid := s.nextUUID()
	s.places.threads[id] = uuid
	if of.Main {
		s.places.main = uuid
	}
	thread := appendNumbers(nil, pb.ThreadPid, uint64(s.numbers.Pids[of.Process]), pb.ThreadTid, uint64(s.numbers.Tids[id]))
	thread = protobuf.AppendBytes(thread, pb.ThreadName, clean(of.Name))
	body := appendNumbers(nil, pb.TrackUUID, uuid, pb.TrackParent, s.places.process)
	s.describe(protobuf.AppendBytes(body, pb.TrackThread, thread))
}

// child describes a track below another one, with more fields.
func (s *Sink) child(parent uint64, name string, more ...byte) uint64 {
	uuid := s.nextUUID()
	body := appendNumbers(nil, pb.TrackUUID, uuid, pb.TrackParent, parent)
	body = protobuf.AppendBytes(body, pb.TrackName, clean(name))
	s.describe(append(body, more...))
	return uuid
}

// part is a track below the process, which is described when it is first needed.
func (s *Sink) part(parent uint64, name string) uint64 {
	uuid, ok := s.places.parts[name]
	if !ok {
		uuid = s.child(parent, name)
		s.places.parts[name] = uuid
	}
	return uuid
}

// beginTrack goes to a track, 0 for what is of the process.
func (s *Sink) beginTrack(id stream.TrackID) {
	s.track = id
	if id == 0 {
		return
	}
	uuid := s.places.threads[id]
	s.thread = threadAt{uuid: uuid, pid: uint64(s.numbers.Pids[s.process]), tid: uint64(s.numbers.Tids[id]), name: s.tables.Tracks.At(id).Name}
	s.samples = samples{}
}

// endTrack writes what was collected of a track, or of a kind of rows of the process.
func (s *Sink) endTrack() {
	s.endCPU()
	s.endLanes()
}

// endProcess ends the process before another one.
func (s *Sink) endProcess() {
	if s.process != 0 {
		s.heap.Finish()
	}
	s.track, s.series = 0, stream.Series{}
}
