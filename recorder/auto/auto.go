// Package auto starts a recorder when the environment asks for it. A program
// imports it for that alone:
//
//	import _ "gprof/recorder/auto"
//
// GPROF=on records from the program's start; without it the import costs
// nothing. GPROF_HELP=1 prints what else can be set. A recording that does not
// start is explained on standard error, because somebody asked for it; the
// program goes on.
//
// Nobody stops this recorder: it records until the process ends, however it
// ends. A program that calls recorder.Start besides gets this recorder, with
// what the environment says in force instead of its options, and may stop it.
package auto

import (
	"fmt"
	"io"
	"os"

	"gprof/recorder"
)

// It must run before main does, and nobody calls it.
func init() { start(os.Stderr) }

// started is the recorder that init started, nil if it did not.
var started *recorder.Recorder

// Recorder is the recorder that the environment asked for, nil if it did not.
// All its methods work on nil.
func Recorder() *recorder.Recorder { return started }

func start(stderr io.Writer) {
	recorder.Help(stderr)
	value := os.Getenv(recorder.EnvSwitch)
	on, err := recorder.ParseSwitch(value)
	if err != nil {
		fmt.Fprintf(stderr, "gprof: %s=%s is ignored: %v\n", recorder.EnvSwitch, value, err)
	}
	if !on {
		return
	}
	r, err := recorder.StartAutomatic()
	if err != nil {
		fmt.Fprintf(stderr, "gprof: nothing is recorded: %v\n", err)
		return
	}
	started = r
}
