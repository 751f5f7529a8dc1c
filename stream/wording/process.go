package wording

import (
	"fmt"
	"strings"
	"time"

	"gprof/stream"
)

// Unseen is the word for the end of a process that has ended without any record of it:
// the same as for one that another process found dead.
const Unseen = "found dead"

// End says how a process ended, in one word and what follows it: "killed" and " by
// signal 9 (SIGKILL)". A Go program that ended with status 2 did that by itself, but the
// status alone does not tell a panic from a fatal error, such as out of memory, or from
// os.Exit. If nobody saw the process end not even that is known.
func End(e stream.Exit, isGo bool) (word, how string) {
	switch {
	case !e.Known: // what cp or a snapshot copied of a process that went on looks the same
		return Unseen, ": killed, ended by itself (fatal error, os.Exit), or copied while it ran"
	case e.Reason == Unseen:
		return Unseen, ": killed, or ended by itself (fatal error, os.Exit)"
	case isGo && e.EndedByRuntime():
		return e.Reason, fmt.Sprintf(" with status %d, as Go programs do after a panic or a fatal error such as out of memory", e.Code)
	case e.Reason == stream.Exited:
		return e.Reason, fmt.Sprintf(" with status %d", e.Code)
	case e.Reason == "killed":
		return e.Reason, " by signal " + signalName(e.Code)
	}
	return e.Reason, ""
}

// ShortEnd says what was recorded of the end of a process: "killed 9".
func ShortEnd(e stream.Exit) string {
	text := e.Reason
	if e.HasCode() {
		text += fmt.Sprintf(" %d", e.Code)
	}
	return strings.TrimSpace(text + " " + e.Text)
}

// signals are the names of those that end processes, by the numbers that Linux gives
// them. The recording may be of another machine than this one.
var signals = map[int64]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
	11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS",
}

func signalName(n int64) string {
	if name := signals[n]; name != "" {
		return fmt.Sprintf("%d (%s)", n, name)
	}
	return fmt.Sprint(n)
}

const mebi = 1 << 20

// Heap says how far the heap samples of a process that ended at end can be trusted.
func Heap(h *stream.Heap, end stream.Time) string {
	if p := h.Last(); p != nil {
		return Picture(p, end)
	}
	const same = 1e9 // ns: between two moments at which a heap is much the same
	text := fmt.Sprintf("%s, %.1f MiB", before(h.Sampled, end), float64(h.Explained)/mebi)
	had, when := float64(h.InUse)/mebi, before(h.Counted, end)
	if h.Share() > 100 && h.Counted > h.Sampled+same { // what was sampled may have been freed since
		return text + fmt.Sprintf("; the heap had %.1f MiB %s", had, when)
	}
	return text + explains(h.Share(), fmt.Sprintf("the %.1f MiB that the heap had %s", had, when))
}

// Picture says how far the last picture of the heap can be trusted that was taken near a limit.
func Picture(p *stream.Picture, end stream.Time) string {
	text := fmt.Sprintf("%s, %.1f MiB", before(p.Taken, end), float64(p.Explained)/mebi) +
		explains(p.Share(), fmt.Sprintf("the %.1f MiB that the heap had then", float64(p.Heap)/mebi))
	switch {
	case !p.Whole:
		text += "; what was allocated since the last garbage collection is not in it"
	case p.Recent > 0:
		text += fmt.Sprintf("; %.1f MiB was allocated since the last garbage collection and may be garbage", float64(p.Recent)/mebi)
	}
	return text
}

func before(at, end stream.Time) string {
	return fmt.Sprintf("%.1f s before the end", max(0, time.Duration(end-at)).Seconds())
}

// explains says that samples explain a share, in percent, of what there was.
func explains(share int64, had string) string {
	switch {
	case share > 100: // of a small heap, in which a sample stands for much
		return ", an estimate of " + had
	case share >= 0:
		return fmt.Sprintf(", which is %d %% of %s", share, had)
	}
	return ""
}
