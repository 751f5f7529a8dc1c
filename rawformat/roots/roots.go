// Package roots names the rows of goroutines that are on no track, by the functions in which
// they began, for the recorder and for readers alike.
package roots

import "strings"

// Tracks of what begins in no function of Go.
const (
	Unknown = "unknown root" // goroutines that began in an unknown place
	Native  = "Native code"  // threads that are not Go's
)

// Truncated is the frame that replaces those beyond the recorded depth of a stack.
const Truncated = "(truncated)"

// Name is the name of a goroutine's track, by the two outermost functions of a stack,
// either of which may be "". runtime.main only calls main.main; other goroutines that
// begin in the runtime do its own work, on stacks of their own or of the scheduler.
func Name(root, next string) string {
	switch {
	case root == "", root == Truncated:
		return Unknown
	case root == "runtime.main" && next != "", root == "runtime.goexit" && next != "":
		return next
	case strings.HasPrefix(root, "runtime.cgocallback"):
		return "Go called from C"
	case strings.HasPrefix(root, "runtime.gcBgMark"):
		return "Go garbage collector"
	case strings.HasPrefix(root, "runtime.") && root != "runtime.main":
		return "Go runtime"
	}
	return root
}
