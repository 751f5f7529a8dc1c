package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"gprof/fixtures"
)

// With --headers the same is said as when all is read: of killed processes, which have no record of their end, of damaged chunks, archives, and files of
// other tools, too.
func TestHeadersAgree(t *testing.T) {
	recordings := 0
	for _, pattern := range []string{"../../decode/testdata/*.txtar", "../../ingest/testdata/*/*.txtar", "testdata/recordings/*.txtar"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			session, packed := filepath.Join(dir, "session"), filepath.Join(dir, "packed.gprof")
			if fixtures.Build(session, ar) != nil {
				continue // it is no recording
			}
			recordings++
			name := strings.TrimSuffix(filepath.Base(file), ".txtar")
			headersAgree(t, name, session)
			if said, code := runOut("pack", session, "-o", packed); code == 0 {
				headersAgree(t, name+", packed", packed)
			} else {
				t.Log(name, said)
			}
			each(t, filepath.Join(session, "*", "exit"), os.Remove)
			headersAgree(t, name+", killed", session)
			headersAgree(t, name+", killed, redacted", session, "--redact=all:drop")
			each(t, filepath.Join(session, "*", "chunk-*"), flipMiddle)
			headersAgree(t, name+", damaged", session)
		}
	}
	if recordings < 20 {
		t.Errorf("%d recordings", recordings)
	}
	for _, file := range []string{"../../ingest/chrometrace/testdata/chrome.json", "../../ingest/cpuprofile/testdata/cart.cpuprofile"} {
		headersAgree(t, filepath.Base(file), file)
	}
}

func each(t *testing.T, pattern string, do func(string) error) {
	t.Helper()
	files, _ := filepath.Glob(pattern)
	for _, file := range files {
		if err := do(file); err != nil {
			t.Fatal(err)
		}
	}
}

// flipMiddle damages the first page of a chunk's blocks.
func flipMiddle(file string) error {
	data, err := os.ReadFile(file)
	if err != nil || len(data) < 200 {
		return err
	}
	data[160] ^= 0x55
	return os.WriteFile(file, data, 0o600)
}

// runOut is what a command prints, on stderr if it fails.
func runOut(words ...string) (said string, code int) {
	var stdout, stderr bytes.Buffer
	if code = run(words, strings.NewReader(""), &stdout, &stderr); code != 0 {
		return stderr.String(), code
	}
	return stdout.String(), 0
}

// headersAgree compares info --headers with info.
func headersAgree(t *testing.T, name, input string, flags ...string) {
	t.Helper()
	words := append([]string{"info", "--json", input}, flags...)
	whole, code := runOut(words...)
	headers, code2 := runOut(append(words, "--headers")...)
	if code != code2 || code == 0 != (headers != "") {
		t.Fatalf("%s: exit code %d, with --headers %d\n%s", name, code, code2, headers)
	}
	if code != 0 {
		return
	}
	var all, some any
	if err := json.Unmarshal([]byte(whole), &all); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(headers), &some); err != nil {
		t.Fatal(err)
	}
	for _, difference := range contradictions("", some, all) {
		if strings.HasPrefix(name, "none") && strings.Contains(difference, "start: ") {
			continue // the meta file lacks it: then it is when the first chunk was begun, not its first event
		}
		t.Errorf("%s: %s", name, difference)
	}
}

// contradictions are the places where some says other things than all, not less.
func contradictions(at string, some, all any) (found []string) {
	switch some := some.(type) {
	case nil: // not known
		return nil
	case map[string]any:
		all, _ := all.(map[string]any)
		for key, value := range some {
			switch text, _ := all[key].(string); {
			case key == "ledger" || key == "losses": // reading finds more
			case key == "text" && strings.HasPrefix(text, value.(string)): // with the memory behind
			default:
				found = append(found, contradictions(at+"."+key, value, all[key])...)
			}
		}
		return found
	case []any:
		all, _ := all.([]any)
		if len(some) != len(all) {
			return []string{fmt.Sprintf("%s: %d of %d", at, len(some), len(all))}
		}
		for i := range some {
			found = append(found, contradictions(fmt.Sprintf("%s[%d]", at, i), some[i], all[i])...)
		}
		return found
	}
	if some != all {
		return []string{fmt.Sprintf("%s: %v, want %v", at, some, all)}
	}
	return nil
}
