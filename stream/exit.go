package stream

import "fmt"

// Unseen is the Reason that is shown of a process that does not run any more and of
// whose end nothing was recorded: the same as of one that another process found dead.
const Unseen = "found dead"

// statusGo is the exit status of a Go program that its runtime ends.
const statusGo = 2

// Words say how a process ended, in one word and what stands behind it: "killed" and
// " by signal 9 (SIGKILL)". All tools use them. A Go program that ended with status 2 did
// that by itself, but the status alone does not tell a panic from a fatal error, such as
// out of memory, or from os.Exit. Of one that nobody saw end not even that is known.
func (e Exit) Words(isGo bool) (word, how string) {
	switch {
	case !e.Known || e.Reason == Unseen:
		return Unseen, ": killed, or ended by itself (fatal error, os.Exit)"
	case e.Reason == Exited && e.Code == statusGo && isGo:
		return e.Reason, " with status 2, as Go programs do after a panic or a fatal error such as out of memory"
	case e.Reason == Exited:
		return e.Reason, fmt.Sprintf(" with status %d", e.Code)
	case e.Reason == "killed":
		return e.Reason, " by signal " + signalName(e.Code)
	}
	return e.Reason, ""
}

// EndedByRuntime reports whether a Go program may have been ended by its own runtime.
func (e Exit) EndedByRuntime() bool { return e.Known && e.Reason == Exited && e.Code == statusGo }

// signals are the names of those that end processes, by the numbers that Linux
// gives them. The recording may be of another machine than this one.
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
