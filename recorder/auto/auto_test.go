package auto

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gprof/recorder"
)

// TestMain lets the test binary be a program that only imports this package.
func TestMain(m *testing.M) {
	if os.Getenv("AUTO_TEST_CHILD") == "start" {
		startBesides()
		os.Exit(0)
	}
	if os.Getenv("AUTO_TEST_CHILD") != "" {
		recorder.Mark("automatic")
		fmt.Print(Recorder().Recording())
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// program runs such a program with that environment.
func program(t *testing.T, env ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "AUTO_TEST_CHILD=1"), env...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String()
}

func TestSwitch(t *testing.T) {
	for _, tt := range []struct {
		env       []string
		recording string
		stderr    string // part of it
	}{
		{nil, "false", ""},
		{[]string{"GPROF=off"}, "false", ""},
		{[]string{"GPROF=on"}, "true", ""},
		{[]string{"GPROF=on", "GPROF_LIMIT=1"}, "false", "gprof: nothing is recorded: recorder: limit too small"},
		{[]string{"GPROF=maybe"}, "false", "gprof: GPROF=maybe is ignored: want on or off"},
		{[]string{"GPROF_HELP=0"}, "false", ""},
		{[]string{"GPROF_HELP=1"}, "false", "GPROF_LIMIT=SIZE"},
	} {
		dir := t.TempDir()
		stdout, stderr := program(t, append(tt.env, "GPROF_DIR="+dir)...)
		if stdout != tt.recording || !strings.Contains(stderr, tt.stderr) || tt.stderr == "" && stderr != "" {
			t.Errorf("%v: recording %s, standard error %q", tt.env, stdout, stderr)
		}
		found, err := filepath.Glob(filepath.Join(dir, filepath.Base(os.Args[0]), "*", "meta"))
		if err != nil || (len(found) > 0) != (tt.recording == "true") {
			t.Errorf("%v: recordings %v, %v", tt.env, found, err)
		}
	}
}

// startBesides is a program that starts a recorder of its own, twice.
func startBesides() {
	rec, err := recorder.Start(recorder.Options{Service: "own"})
	_, again := recorder.Start(recorder.Options{})
	fmt.Print(rec == Recorder(), err, errors.Is(again, recorder.ErrRunning))
	err = rec.Stop()
	rec, again = recorder.Start(recorder.Options{Service: "own"})
	fmt.Print(" ", rec != Recorder(), err, again)
	if err := rec.Stop(); err != nil {
		panic(err)
	}
}

func TestProgramTakesOver(t *testing.T) {
	stdout, _ := program(t, "GPROF=on", "GPROF_DIR="+t.TempDir(), "AUTO_TEST_CHILD=start")
	if want := "true <nil> true true <nil> <nil>"; stdout != want {
		t.Errorf("%q, want %q", stdout, want)
	}
}
