package main

import (
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// The flags of all commands take several times as long to model as those of one, so only those that may be meant are.
func TestFlagsOfOneCommand(t *testing.T) {
	all := allocated(t, "--version", "man") // man needs all
	for _, words := range [][]string{{"--version"}, {"info", "--help"}, {"help", "verify"}, {"__complete", "--", "top", "--"}} {
		if one := allocated(t, words...); one > all/2 {
			t.Errorf("%v allocates %d bytes, what models all commands %d", words, one, all)
		}
	}
}

// allocated is how many bytes a command allocates.
func allocated(t *testing.T, words ...string) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	code := run(words, nil, io.Discard, io.Discard)
	runtime.ReadMemStats(&after)
	if code != 0 {
		t.Errorf("%v: exit code %d", words, code)
	}
	return after.TotalAlloc - before.TotalAlloc
}

// Memory that packages allocate before main is paid for by every run of a command. Ours leave it until it is needed; of others, these are known to take more.
func TestInits(t *testing.T) {
	const ours, others = 20 << 10, 64 << 10
	known := map[string]int{ // bytes, at most
		"github.com/goccy/go-json/":                3 << 20, // of Arrow
		"github.com/bytedance/sonic/":              2 << 20,
		"github.com/cloudwego/base64x/":            256 << 10, // of sonic
		"github.com/minio/minio-go/v7/pkg/s3utils": 512 << 10,
		"github.com/google/pprof/":                 256 << 10,
		"github.com/google/jsonschema-go/":         128 << 10, // of the server for assistants
		"github.com/gdamore/encoding":              128 << 10, // of terminals
		"github.com/parquet-go/parquet-go/":        128 << 10,
		"google.golang.org/protobuf/":              128 << 10,
		"github.com/modelcontextprotocol/go-sdk/":  128 << 10,
		"github.com/apache/arrow/go/v15/arrow/":    128 << 10,
		"github.com/google/go-cmp/":                256 << 10, // of tests, as the next one
		"github.com/rogpeppe/go-internal/":         128 << 10,
	}
	cmd := exec.Command("gprof-convert", "--version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	inits := regexp.MustCompile(`(?m)^init (\S+) @.*, (\d+) bytes, `).FindAllSubmatch(out, -1)
	if len(inits) < 50 {
		t.Fatalf("%d inits:\n%s", len(inits), out)
	}
	for _, m := range inits {
		name := string(m[1])
		bound := others
		if strings.HasPrefix(name, "gprof/") {
			bound = ours
		}
		for prefix, bytes := range known {
			if strings.HasPrefix(name, prefix) {
				bound = bytes
			}
		}
		if bytes, _ := strconv.Atoi(string(m[2])); bytes > bound {
			t.Errorf("%s allocates %d bytes before main, want %d at most", name, bytes, bound)
		}
	}
}
