//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package sampler

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/ring"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/shard"
)

// host opens a recording in a directory of its own, without a keeper.
func host(t testing.TB) (h Host, dir string) {
	t.Helper()
	h.Recording = shard.Open(shard.Config{Instance: 7})
	h.Recording.Settle()
	h.Recording.MakeShards(2, 6)
	dir = filepath.Join(t.TempDir(), fmt.Sprintf("%016x", h.Recording.Instance()))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	h.Files, h.Limit = folder.Dir(dir), 8<<20
	file, err := chunks.CreateDict(h.Files, h.Recording.Instance(), 1, uint32(os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	h.Ring, err = ring.Open(h.Files, ring.Options{Instance: h.Recording.Instance(), Pid: uint32(os.Getpid()), Limit: h.Limit, MinSpare: 4,
		Clock: h.Recording.Clock().Kind(), Anchor: h.Recording.Clock().Anchor})
	if err != nil {
		t.Fatal(err)
	}
	h.Recording.Use(h.Ring)
	h.Dict = dict.New(file, dict.Config{Limit: h.Limit, Charge: h.Ring.Charge, LabelName: func(uint32) (string, uint32) { return "", 0 }})
	h.Dict.Learn()
	h.Complain = func(what string, err error) {
		if err != nil {
			t.Error(what, err)
		}
	}
	h.Maintain = func() { h.Complain("ring", h.Ring.Maintain()) }
	h.Ended = func(why string) { t.Error(why) }
	h.Maintain()
	t.Cleanup(func() {
		h.Recording.Close()
		if err := errors.Join(h.Ring.Close(), h.Dict.Close()); err != nil {
			t.Error(err)
		}
	})
	return h, dir
}

// testDepth is how many calls of a stack the tests' samplers write: the default of recordings.
const testDepth = 128
