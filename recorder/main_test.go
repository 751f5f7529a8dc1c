package recorder_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gprof/recorder"
)

const childVariable = "RECORDER_TEST_CHILD"

// children are the functions that the test binary runs, instead of tests, when child has started
// it. A child gets its arguments in os.Args[1:].
var children = map[string]func(){
	"killed":   killedChild,
	"begun":    begunChild,
	"silent":   silentChild,
	"panic":    panickingChild,
	"parent":   parentChild,
	"recorded": recordedChild,
	"resource": resourceChild,
	"member":   memberChild,
	"host":     hostChild,
	"cut":      cutChild,
	"early":    earlyChild,
	"helped":   helpedChild,
	"memory":   memoryChild,
}

func TestMain(m *testing.M) {
	if name := os.Getenv(childVariable); name != "" {
		children[name]()
		os.Exit(0)
	}
	os.Exit(run(m))
}

// run runs the tests with a default directory that is removed afterwards.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "recorder-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.Setenv(recorder.EnvDir, dir) // fails for malformed names only
	return m.Run()
}

// child is this binary as a program of that name. Its environment has no
// settings of ours but env.
func child(name string, args []string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GPROF") && !strings.HasPrefix(v, "OTEL") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(append(cmd.Env, childVariable+"="+name, "GORACE=atexit_sleep_ms=0"), env...)
	cmd.Stderr = os.Stderr
	return cmd
}

// begin starts a recorder with a small ring in a directory of its own.
func begin(t testing.TB, o recorder.Options) *recorder.Recorder {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Limit == 0 {
		o.Limit = 8 << 20
	}
	if o.CounterHz == 0 {
		o.CounterHz = -1
	}
	rec, err := recorder.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rec.Stop() })
	return rec
}

// finish stops the recorder and reads what it recorded.
func finish(t *testing.T, rec *recorder.Recorder) *recording {
	t.Helper()
	if err := rec.Err(); err != nil {
		t.Fatal(err)
	}
	if err := rec.Stop(); err != nil {
		t.Fatal(err)
	}
	return read(t, rec.Dir())
}

// line reads one line from a child.
func line(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	s, err := r.ReadString('\n')
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return strings.TrimSuffix(s, "\n")
}

// childRecorder starts a recorder in a child and says where.
func childRecorder(o recorder.Options) *recorder.Recorder {
	rec, err := recorder.Start(o)
	if err != nil {
		panic(err)
	}
	fmt.Println(rec.Dir())
	return rec
}
