//go:build !unix

package main

import "os"

// forwarded are the signals that programs get here.
var forwarded = []os.Signal{os.Interrupt}

// reached reports whether the command got the signal already: a console sends
// it to all programs that it runs.
func reached(os.Signal) bool { return true }

// signalOf is the signal that ended a process: none, here.
func signalOf(*os.ProcessState) int { return 0 }

// ending are the signals that end the sampling of processes that run on.
func ending() []os.Signal { return []os.Signal{os.Interrupt} }
