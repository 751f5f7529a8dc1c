package attach

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"gprof/chunks/folder"
	"gprof/chunks/mapping"
	"gprof/chunks/session"
	"gprof/rawformat"
	"gprof/rawformat/perfevent"
)

// Sampler samples processes until they have ended, or it is stopped.
type Sampler struct {
	o       Options
	events  *events
	control *session.Control
	kernel  kernel
	builds  builds
	follow  *follower // nil: stacks are not copied

	processes map[int32]*process // by pid, those that live
	batch     batch
	sample    perfevent.Sample
	inherited map[int32]bool // threads whose beginning was recorded
	notes     []*Refusal
	paused    bool
	stopped   bool // by the session
	summary   Summary
	errs      []error

	wake  int // eventfd: Stop was called
	once  sync.Once
	ended chan struct{}
}

// roundEvery is how often the buffers are read if they don't fill, upkeepEvery how often
// rings are looked after, and deathsEvery whether somebody ended without a word.
const (
	roundEvery  = 100 * time.Millisecond
	deathsEvery = time.Second
)

// Start samples processes from now on, with all their threads and the processes that they begin. If the kernel refuses
// only parts of that, [Sampler.Notes] says so; if it refuses everything, the error is a [Refusal], which says what would
// allow it. Otherwise the error is [ErrEnded] if none of the processes is alive, [ErrRate], that of a session's limit, or
// the disk's.
func Start(pids []int, o Options) (*Sampler, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	s := &Sampler{o: o, processes: map[int32]*process{}, inherited: map[int32]bool{}, builds: builds{known: map[file]string{}}, ended: make(chan struct{})}
	if o.StackBytes > 0 {
		s.follow = newFollower()
	}
	err := s.open(pids)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	go s.run()
	return s, nil
}

// open sets the sampler up. It asks the kernel first, so that a refusal leaves nothing
// behind.
func (s *Sampler) open(pids []int) (err error) {
	s.wake, s.kernel.deepest = -1, deepestChain()
	if s.events, err = newEvents(&s.o); err != nil {
		return err
	}
	for _, pid := range pids {
		if s.processes[int32(pid)] != nil {
			continue // it is one of another's tree
		}
		if err := s.begin(pid, nil); err != nil {
			return fmt.Errorf("pid %d: %w", pid, err)
		}
		if s.o.Tree {
			s.beginChildren(s.processes[int32(pid)])
		}
	}
	if s.o.Tree {
		s.noteChildren()
	}
	if err := os.MkdirAll(filepath.Dir(s.o.Session), 0o700); err != nil {
		return err
	}
	if err := folder.MakeSession(s.o.Session, 0o700); err != nil {
		return err
	}
	mapping.CatchFaults() // else a file that is cut short ends the sampler, and no more
	if s.control, err = session.Open(s.o.Session, session.Options{Limit: s.o.Limit, LimitAsked: s.o.Limit > 0}); err != nil {
		return err
	}
	s.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	return err
}

// begin opens the events of all threads of a process, and reads what it is. A thread that
// begins meanwhile inherits them, unless its parent had none yet. So the list of threads is
// read until it holds nothing new. Threads of the first list can't have inherited any.
func (s *Sampler) begin(pid int, parent *process) error {
	if len(s.processes) == 0 {
		if err := s.events.probe(pid); err != nil {
			return s.refusal(err, pid)
		}
		s.note(pid)
	}
	p := &process{pid: int32(pid), parent: parent, begun: anchor(), threads: map[int32]*thread{}, kernel: &s.kernel, builds: &s.builds, follow: s.follow, places: map[uint64]frame{}}
	s.processes[p.pid] = p
	first := true
	for news := true; news; first = false {
		news = false
		for _, tid := range threads(pid) {
			if p.threads[tid] != nil || !first && s.hasBegun(tid) {
				continue
			}
			news = true
			p.thread(tid).name = readLine(fmt.Sprintf("/proc/%d/task/%d/comm", pid, tid))
			if err := s.events.add(int(tid)); errors.Is(err, unix.ESRCH) {
				continue // it has ended, which no record says; lookForDeaths finds out
			} else if err != nil {
				return s.refusal(err, pid)
			}
		}
	}
	if s.events.taps[0].buffer == nil {
		return ErrEnded
	}
	p.look()
	p.exe = p.link
	for _, m := range s.builds.mapped(p.pid) {
		p.isMapped(m)
	}
	return nil
}

// beginChildren begins the children of a process and their descendants, as far as that is
// possible. Children that it forks meanwhile inherit its events.
func (s *Sampler) beginChildren(p *process) {
	for _, pid := range children(p.pid) {
		if s.processes[pid] != nil || s.hasBegun(pid) {
			continue
		}
		if err := s.begin(int(pid), p); err != nil {
			s.summary.Unwritten = append(s.summary.Unwritten, fmt.Sprintf("pid %d, a child of %d: %v", pid, p.pid, err))
			delete(s.processes, pid)
			continue
		}
		s.beginChildren(s.processes[pid])
	}
}

// children lists the children of a process, where the kernel tells them.
func children(pid int32) (pids []int32) {
	for _, tid := range threads(int(pid)) {
		for text := range strings.FieldsSeq(readLine(fmt.Sprintf("/proc/%d/task/%d/children", pid, tid))) {
			if child, err := strconv.ParseInt(text, 10, 32); err == nil {
				pids = append(pids, int32(child))
			}
		}
	}
	return pids
}

// hasBegun reports whether a thread has inherited events. The kernel lists a thread a moment
// before it writes the record of its fork.
func (s *Sampler) hasBegun(tid int32) bool {
	time.Sleep(time.Millisecond)
	s.fill()
	return s.inherited[tid]
}

// threads lists the threads of a process.
func threads(pid int) (tids []int32) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil // it has ended
	}
	for _, e := range entries {
		if tid, err := strconv.ParseInt(e.Name(), 10, 32); err == nil {
			tids = append(tids, int32(tid))
		}
	}
	return tids
}

// Done is closed when all processes have ended.
func (s *Sampler) Done() <-chan struct{} { return s.ended }

// Stop ends the sampling and seals the recordings. The error is the first one of the disk; the recordings can be read
// nevertheless. A second call does nothing.
func (s *Sampler) Stop() (Summary, error) {
	var err error
	s.once.Do(func() {
		if _, err = unix.Write(s.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}); err != nil {
			return
		}
		<-s.ended
		err = errors.Join(errors.Join(s.errs...), s.close())
	})
	slices.Sort(s.summary.Dirs)
	return s.summary, err
}

// close undoes open.
func (s *Sampler) close() error {
	var errs []error
	if s.events != nil {
		errs = append(errs, s.events.close())
	}
	if s.control != nil {
		errs = append(errs, s.control.Close())
	}
	if s.wake >= 0 {
		errs = append(errs, unix.Close(s.wake))
	}
	return errors.Join(errs...)
}

// run makes rounds until all processes have ended or Stop is called, and then a last one.
func (s *Sampler) run() {
	defer close(s.ended)
	kept, looked := time.Now(), time.Now()
	for len(s.processes) > 0 && !s.stopped && !s.await() {
		s.round(uint64(readClock(unix.CLOCK_MONOTONIC)) - settle)
		now := time.Now()
		if now.Sub(kept) >= roundEvery {
			s.upkeep(now)
			kept = now
		}
		if now.Sub(looked) >= deathsEvery {
			s.lookForDeaths()
			looked = now
		}
	}
	until := uint64(readClock(unix.CLOCK_MONOTONIC))
	s.round(1<<64 - 1)
	for _, p := range s.byPid() {
		s.takeOpenWaits(p, until)
		s.end(p, left)
	}
}

// byPid are the processes, sorted by pid.
func (s *Sampler) byPid() (all []*process) {
	for _, p := range s.processes {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *process) int { return int(a.pid) - int(b.pid) })
	return all
}

// await waits until a buffer fills, or for some time, and reports whether Stop was
// called.
func (s *Sampler) await() (stopped bool) {
	fds := []unix.PollFd{{Fd: int32(s.wake), Events: unix.POLLIN}}
	wait := roundEvery
	for _, t := range s.events.taps {
		if len(t.fds) > 0 {
			fds = append(fds, unix.PollFd{Fd: int32(t.fds[0]), Events: unix.POLLIN})
		}
	}
	unix.Poll(fds, 0)
	for i := range fds {
		if fds[i].Revents&unix.POLLHUP != 0 { // its thread has ended, and tells nothing of others any more
			fds[i].Fd, wait = -1, roundEvery/10
		}
	}
	unix.Poll(fds, int(wait.Milliseconds()))
	return fds[0].Revents&unix.POLLIN != 0
}

// fill moves the records of all buffers into the batch.
func (s *Sampler) fill() {
	for _, t := range s.events.taps {
		if t.buffer == nil {
			continue
		}
		s.summary.Lost += t.buffer.read(func(h perfevent.Head, body []byte) {
			if h.Kind == perfevent.KindFork {
				if task, ok := perfevent.ParseTask(body); ok {
					s.inherited[task.Tid] = true
				}
			}
			s.batch.add(h, body)
		})
	}
}

// round reads the buffers, and writes the records until a moment.
func (s *Sampler) round(until uint64) {
	s.fill()
	clear(s.inherited)
	s.batch.each(until, s.take)
}

// upkeep maintains the recordings, and obeys the session's requests.
func (s *Sampler) upkeep(now time.Time) {
	told, generation := s.control.State()
	pause := told == rawformat.CommandPause
	for _, p := range s.byPid() {
		if p.into == nil {
			continue
		}
		if pause != s.paused {
			p.into.pause(pause)
		}
		p.into.slot.Obeyed(generation)
		p.nameMade(now, p.into.dict.isOutgrown())
		p.into.upkeep(now)
	}
	s.paused, s.stopped = pause, told == rawformat.CommandStop
}

// lookForDeaths ends processes that have ended without a record, because it was lost.
func (s *Sampler) lookForDeaths() {
	for _, p := range s.byPid() {
		if errors.Is(unix.Kill(int(p.pid), 0), unix.ESRCH) {
			s.end(p, died)
		}
	}
}

// fate is why a process is no longer sampled.
type fate string

const (
	left     fate = "no longer sampled"
	replaced fate = "it runs another program"
	died     fate = "it ended; who samples from outside is not told its status"
)

// end seals the recording of a process. The caller writes how its own child ended.
func (s *Sampler) end(p *process, why fate) {
	if s.processes[p.pid] == p {
		delete(s.processes, p.pid)
	}
	if p.into == nil {
		return
	}
	p.nameMade(time.Now(), true)
	reason, text := rawformat.ExitStopped, string(why)
	if why == died && int(p.pid) == s.o.Child {
		reason, text = rawformat.ExitUnknown, ""
	}
	if err := errors.Join(p.into.end(s.o.Session, reason, text), p.lists.close()); err != nil {
		s.errs = append(s.errs, fmt.Errorf("%s: %w", filepath.Base(p.into.dir), err))
	}
}
