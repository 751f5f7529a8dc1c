package attach

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gprof/rawformat"
	"gprof/rawformat/perfevent"
	"gprof/recorder/internal/modules"
)

// take handles a record.
func (s *Sampler) take(it *item, body []byte) {
	if it.head.Kind == perfevent.KindSample {
		if s.events.layout.ParseSample(body, &s.sample) {
			s.takeSample(it.head.Misc)
		}
		return
	}
	body, t := s.events.layout.SplitTrailer(body)
	switch it.head.Kind {
	case perfevent.KindMmap, perfevent.KindMmap2:
		s.takeMapping(it.head, body)
	case perfevent.KindComm:
		s.takeName(it.head.Misc, body)
	case perfevent.KindFork:
		s.takeFork(body)
	case perfevent.KindExit:
		s.takeExit(body)
	case perfevent.KindSwitch:
		s.takeSwitch(it.head.Misc, t)
	case perfevent.KindLost, perfevent.KindLostSamples:
		s.takeLost(it.head, body, t)
	}
}

// recording is the recording of a process, which is begun if need be; nil: it can't be, or
// sampling is paused.
func (s *Sampler) recording(p *process) *recording {
	if s.paused {
		return nil
	}
	if p.into != nil || p.refused {
		return p.into
	}
	if parent := p.parent; parent != nil && s.processes[parent.pid] == parent {
		s.recording(parent) // the child's says which it is
	}
	r, err := s.record(p)
	if err != nil {
		p.refused = true
		s.summary.Unwritten = append(s.summary.Unwritten, fmt.Sprintf("pid %d (%s): %v", p.pid, p.name(), err))
		return nil
	}
	p.into = r
	s.summary.Dirs = append(s.summary.Dirs, r.dir)
	if program := p.program(); program != "" && !slices.Contains(s.summary.Programs, program) {
		s.summary.Programs = append(s.summary.Programs, program)
	}
	return r
}

func (s *Sampler) takeSample(misc uint16) {
	m := &s.sample
	p := s.processes[m.Pid]
	if p == nil {
		return // it was not ours when its record was written
	}
	if m.Period == leavesPeriod {
		t := p.thread(m.Tid)
		t.stack = append(t.stack[:0], p.stack(m, misc)...)
		return
	}
	r := s.recording(p)
	if r == nil {
		return
	}
	r.makeRoom()
	is := busyState{thread: uint64(m.Tid), period: m.Period, track: r.track(p, m.Tid)}
	if r.writer.busy(m.Time, is, r.intern(p, p.stack(m, misc))) {
		s.summary.Samples++
	}
}

// takeSwitch pairs a switch off the processor with the next one back.
func (s *Sampler) takeSwitch(misc uint16, who perfevent.Trailer) {
	p := s.processes[who.Pid]
	if p == nil {
		return
	}
	t := p.thread(who.Tid)
	if misc&perfevent.MiscSwitchOut != 0 {
		t.since, t.preempted = who.Time, misc&perfevent.MiscPreempted != 0
		return
	}
	s.takeWait(p, who.Tid, who.Time)
	t.since, t.stack = 0, t.stack[:0]
}

// takeOpenWaits writes the waits that have not ended, up to a moment.
func (s *Sampler) takeOpenWaits(p *process, until uint64) {
	for _, tid := range slices.Sorted(maps.Keys(p.threads)) {
		s.takeWait(p, tid, until)
	}
}

// takeWait writes the wait of a thread up to a moment, if there is one.
func (s *Sampler) takeWait(p *process, tid int32, until uint64) {
	t := p.thread(tid)
	if t.since == 0 || until <= t.since {
		return
	}
	r := s.recording(p)
	if r == nil {
		return
	}
	r.makeRoom()
	reason := rawformat.OffWaiting
	if t.preempted {
		reason = rawformat.OffPreempted
	}
	track, stack := r.track(p, tid), r.intern(p, t.stack)
	if r.writer.entry(rawformat.KindOffCPU, until, uint64(tid), uint64(track), stackField(stack), uint64(reason), until-t.since) {
		s.summary.Waits++
	}
}

func (s *Sampler) takeMapping(h perfevent.Head, body []byte) {
	m, ok := perfevent.ParseMapping(h, body)
	p := s.processes[m.Pid]
	if !ok || p == nil || m.End <= m.Start {
		return
	}
	path := strings.TrimSuffix(m.Path, modules.Deleted)
	p.isMapped(modules.Module{Path: path, Build: s.builds.of(m.Pid, path, hexOf(m.Build)), Start: m.Start, End: m.End, Offset: m.Offset})
}

func (s *Sampler) takeName(misc uint16, body []byte) {
	c, ok := perfevent.ParseComm(misc, body)
	p := s.processes[c.Pid]
	if !ok || p == nil {
		return
	}
	if c.Exec {
		s.end(p, replaced)
		s.processes[c.Pid] = p.exec(c.Name)
		return
	}
	p.rename(c.Tid, c.Name)
}

func (s *Sampler) takeFork(body []byte) {
	t, ok := perfevent.ParseTask(body)
	p := s.processes[t.ParentPid]
	switch {
	case !ok || p == nil:
	case t.Pid == t.ParentPid:
		p.thread(t.Tid).name = p.thread(t.ParentTid).name
	case s.processes[t.Pid] == nil:
		s.processes[t.Pid] = p.fork(t)
	}
}

// takeExit handles the end of a thread; a process ends with its last one.
func (s *Sampler) takeExit(body []byte) {
	t, ok := perfevent.ParseTask(body)
	p := s.processes[t.Pid]
	if !ok || p == nil {
		return
	}
	delete(p.threads, t.Tid)
	if len(p.threads) == 0 {
		s.end(p, died)
	}
}

// takeLost counts records for which the kernel had no room, for the process that ran when
// it said so.
func (s *Sampler) takeLost(h perfevent.Head, body []byte, who perfevent.Trailer) {
	lost, ok := perfevent.ParseLost(h, body)
	if !ok {
		return
	}
	s.summary.Lost += lost
	if p := s.processes[who.Pid]; p != nil && p.into != nil {
		p.into.lost[rawformat.LostKernel] += lost
	}
}
