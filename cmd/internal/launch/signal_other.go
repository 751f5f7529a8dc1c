//go:build !unix

package launch

import "os"

// forwarded are the signals that programs can get here.
var forwarded = []os.Signal{os.Interrupt}

// reached reports whether the command got the signal already: a console sends it to all
// programs that it runs.
func reached(os.Signal) bool { return true }

// signalOf is the signal that ended a process: none, here.
func signalOf(*os.ProcessState) int { return 0 }

// Ending are the signals that end the sampling of processes that run on.
func Ending() []os.Signal { return []os.Signal{os.Interrupt} }
