package tables

import (
	"embed"
	"errors"
	"io"
)

// Version is that of the tables. A table may get more columns, and there may be
// more tables, under the same version.
const Version = "2"

// VersionKey is what files call it among what they say of themselves.
const VersionKey = "gprof.tables"

// Stamp is a file that says that a directory holds such tables, and of which
// version. A directory with another stamp, or with none, must not be added to.
const Stamp = "_gprof.json"

// StampText is what the stamp holds for tables in files with that extension.
func StampText(extension string) string {
	return `{"format":"gprof tables","version":` + Version + `,"files":"` + extension + "\"}\n"
}

// Last is how names of files begin that say which sessions are complete.
const Last = "coverage/"

// queries are questions to ask of the tables.
//
//go:embed queries/*.sql
var queries embed.FS

// writeStamp writes what does not depend on the run.
func (s *Sink) writeStamp() error {
	if err := s.writeFile(Stamp, []byte(StampText(s.format.Extension))); err != nil {
		return err
	}
	entries, err := queries.ReadDir("queries") // by name
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := queries.ReadFile("queries/" + e.Name())
		if err != nil {
			return err
		}
		if err := s.writeFile("queries/"+e.Name(), text); err != nil {
			return err
		}
	}
	for i := range engines {
		if script := engines[i].script(s.format.Extension); script != "" {
			if err := s.writeFile("queries/engines/"+engines[i].name+".sql", []byte(script)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Sink) writeFile(name string, text []byte) error {
	w, err := s.dir.Create(name)
	if err != nil {
		return err
	}
	n, err := w.Write(text)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}
	return errors.Join(err, w.Close())
}
