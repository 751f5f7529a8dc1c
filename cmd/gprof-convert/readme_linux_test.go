package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What README.md says of perf works as it stands there: of a shell that counts.
func TestReadmePerf(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const title = "You have a perf.data"
	_, section, _ := strings.Cut(string(readme), "\n### "+title+"\n")
	records := regexp.MustCompile(`(?m)^perf .*`).FindAllString(section, -1)
	commands := append(commandsOf(string(readme), title, "perf.data"), commandsOf(string(readme), title, "perf.txt")...)
	if len(records) != 2 || len(commands) != 4 {
		t.Fatalf("README.md has %d commands of perf's and %d of ours", len(records), len(commands))
	}
	session := sessionOf(t, 100)
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir()) // perf keeps programs in .debug there
	for _, record := range records {
		// Into a pipe, perf would write its file there.
		record = strings.Replace(record, "-- CMD", `-- /bin/sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done' >/dev/null`, 1)
		if out, err := exec.Command("/bin/sh", "-c", record).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", record, err, out)
		}
	}
	for _, command := range commands {
		input, rest := strings.Fields(command[0])[1], strings.NewReplacer("CMD", "/bin/sh", "SESSION", session, "~", os.Getenv("HOME")).Replace(command[1])
		var stderr bytes.Buffer
		if code := run(append([]string{input}, strings.Fields(rest)...), nil, &stderr, &stderr); code != exitOK {
			t.Errorf("%s: exit code %d\n%s", command[0], code, &stderr)
		}
	}
	for _, want := range []string{"perf.json.gz", "perf.pb.gz", "perf.html", "both.json.gz"} {
		if _, err := os.Stat(filepath.FromSlash(want)); err != nil {
			t.Error(err)
		}
	}
}
