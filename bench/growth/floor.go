//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"gprof/bench/internal/program"
	"gprof/stream/spill"
)

const (
	// A virtual machine may give free memory back to its host, and has to get it again when a file grows, which takes many
	// times as long as writing to it. So before much is written all that is free has had time to go: what came before makes no difference.
	handBack    = 20 * time.Second
	muchWritten = 500 << 20

	movedBytes = 256 << 10 // at a time
	readBytes  = 32 << 10  // of the spill file
)

// settle waits until all free memory is the host's, if much will be written.
func settle(bytes int64) {
	if bytes >= muchWritten {
		time.Sleep(handBack)
	}
}

// moves is a process that reads the files of a recording, writes as many bytes to a spill file as a conversion did, and reads them.
// What the kernel takes for that no conversion can do without that keeps as much.
func moves(session string, written int64) (program.Cost, error) {
	settle(written)
	self, err := os.Executable()
	if err != nil {
		return program.Cost{}, err
	}
	return program.Run(exec.Command(self, "-move", session, "-written", fmt.Sprint(written)))
}

// move is what such a process does.
func move(session string, written int64) error {
	buffer := make([]byte, movedBytes)
	err := filepath.WalkDir(session, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, buffer)
		return err
	})
	if err != nil {
		return err
	}
	file := spill.New("")
	for left := written; left > 0; left -= movedBytes {
		file.Write(buffer[:min(left, movedBytes)])
	}
	for at := int64(0); at < written && err == nil; at += readBytes {
		_, err = file.ReadAt(buffer[:min(readBytes, written-at)], at)
	}
	return errors.Join(err, file.Close())
}
