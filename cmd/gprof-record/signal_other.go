//go:build !unix

package main

import "os"

// forwarded are the signals that programs get here.
var forwarded = []os.Signal{os.Interrupt}

// reached reports whether the command got the signal already: a console sends
// it to all programs that it runs.
func reached(os.Signal) bool { return true }

func exitStatus(p *os.ProcessState) int { return p.ExitCode() }
