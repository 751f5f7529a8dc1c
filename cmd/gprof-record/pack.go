package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"gprof/chunks/folder"
	"gprof/cmd/internal/human"
	"gprof/cmd/internal/session"
	"gprof/ingest/pack"
)

// pack writes a packed file of the recordings in these directories. It appears only when
// it is whole. Files that can't be read are reported and left out.
func (s *tool) pack(file, from string, dirs []string) error {
	found, err := pack.Session(from)
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(p pack.Process) bool {
		return !slices.Contains(dirs, filepath.Join(from, folder.InstanceName(p.Instance)))
	})
	if len(found) == 0 {
		return pack.ErrNothing
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".gprof-*") // mode 0600, as for a recording
	if err != nil {
		return err
	}
	sum, err := pack.Write(f, found, pack.Options{Report: func(err error) { s.Warn(err) }})
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	s.Say(fmt.Sprintf("packed %s, %s, %s in %s", human.Plural(sum.Processes, "process"), human.Plural(sum.Chunks, "chunk"), session.Size(sum.Size), file))
	return nil
}
