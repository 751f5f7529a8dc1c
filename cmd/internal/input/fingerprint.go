package input

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"sync"
)

// fingerprintHead is how many bytes of each file go into a fingerprint: the header of a
// chunk, which says how much is committed. The time of a mapped file does not always
// change with its bytes.
const fingerprintHead = 4096

// Fingerprint identifies the state of a file, or of all files in a directory, by names,
// sizes, times and first bytes, and says how many bytes they have. Files for which skip is
// true are left out.
func Fingerprint(input string, skip func(string) bool) (mark string, size int64, err error) {
	sum := sha256.New()
	real := input
	if info, err := os.Lstat(input); err != nil {
		return "", 0, err
	} else if info.Mode()&fs.ModeSymlink != 0 {
		if real, err = filepath.EvalSymlinks(input); err != nil {
			return "", 0, err
		}
	}
	err = filepath.WalkDir(real, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && skip(name):
			return filepath.SkipDir
		case !e.Type().IsRegular():
			return nil
		}
		rel, err := filepath.Rel(real, name)
		if err != nil {
			return err
		}
		n, err := addFile(sum, name, filepath.ToSlash(rel))
		size += n
		return err
	})
	return hex.EncodeToString(sum.Sum(nil)[:16]), size, err
}

// addFile adds a file to a fingerprint, and returns its size. A file that has gone since it was
// listed counts as one that was never there.
func addFile(sum hash.Hash, name, rel string) (size int64, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(sum, "%q %d %d\n", rel, info.Size(), info.ModTime().UnixNano())
	_, err = io.CopyN(sum, f, fingerprintHead)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return info.Size(), err
}

// Program identifies this version of the program: by its sources or, if these are
// unknown, by what Go's linker says of its bytes, or by these.
func Program() (string, error) { return program() }

var program = sync.OnceValues(func() (string, error) {
	build, ok := debug.ReadBuildInfo()
	if ok {
		revision, modified := setting(build, "vcs.revision"), setting(build, "vcs.modified")
		if revision != "" && modified == "false" {
			return fmt.Sprint(revision, " ", build.GoVersion, " ", build.Main.Version), nil
		}
	}
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(exe)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, 32<<10)
	n, err := io.ReadFull(f, head)
	if id := buildID().FindSubmatch(head[:n]); err == nil && id != nil {
		return string(id[1]), nil
	}
	sum := sha256.New()
	_, err = io.Copy(sum, io.MultiReader(bytes.NewReader(head[:n]), f))
	return hex.EncodeToString(sum.Sum(nil)[:16]), err
})

// buildID finds what the linker writes near the begin of a program: hashes of what it was made of, and
// of itself. It is in a note of ELF files, and before the code of others.
var buildID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\x04\x00\x00\x00Go\x00\x00|Go build ID: ")([\w/-]{20,200})`)
})

func setting(build *debug.BuildInfo, key string) string {
	for _, s := range build.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
