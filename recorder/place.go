package recorder

import (
	"os"
	"path/filepath"
	"strings"

	"gprof/chunks/session"
	"gprof/rawformat"
)

const (
	// sharedMemory is where a recording costs no disk and survives the
	// process.
	sharedMemory = "/dev/shm"

	// freeShare is the part of what is free that a recording may take,
	// memoryShare that of the memory cgroup's limit.
	freeShare   = 4
	memoryShare = 16

	// worthwhile is how much there should be in shared memory to choose it: a
	// quarter of the 64 MB that containers get.
	worthwhile = 15 << 20
)

// defaultDir is where the session of that name lies when nobody says where.
// limit is what was asked for, 0 nothing. Shared memory that is full of what
// the service recorded before it was restarted is used again.
func defaultDir(name string, limit int64) (string, error) {
	if dir := sharedDir(); dir != "" {
		has := sessionLimit(filepath.Join(dir, name))
		if has > 0 && limit <= has || freeBytes(sharedMemory)/freeShare >= max(limit, worthwhile) {
			return dir, nil
		}
	}
	return stateDir()
}

// stateDir is where sessions lie on a disk.
func stateDir() (string, error) {
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "gprof"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "state", "gprof"), nil
}

// SessionDirs returns the directories in which this user's sessions lie if programs
// don't say where: what the environment names, else shared memory and the state
// directory. They need not exist.
func SessionDirs() (dirs []string) {
	if env, _ := readSettings(); env.Dir != "" && env.Dir != DirInMemory { // Start tells what is malformed
		return []string{env.Dir}
	}
	if dir := sharedDir(); dir != "" {
		dirs = append(dirs, dir)
	}
	if dir, err := stateDir(); err == nil {
		dirs = append(dirs, dir)
	}
	return dirs
}

// sessionLimit is the limit of a session, 0 none.
func sessionLimit(dir string) int64 {
	s, err := session.Read(dir)
	if err != nil {
		return 0 // Start finds out why
	}
	return s.Limit
}

// limitFor is the default limit for a recording in dir.
func limitFor(dir string) int64 {
	limit := affordable()
	if free := freeBytes(existing(dir)); free >= 0 {
		limit = min(limit, free/freeShare)
	}
	return limit
}

// existing is the nearest directory above dir that exists, or dir.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// roundChunk makes n a size that a chunk file may have.
func roundChunk(n int) int {
	n = (n + rawformat.ChunkAlign - 1) / rawformat.ChunkAlign * rawformat.ChunkAlign
	return min(max(n, rawformat.ChunkAlign), rawformat.MaxChunkFile)
}

// maxName bounds a directory's name.
const maxName = 64

// sanitize makes a name that can be a directory's.
func sanitize(name string) string {
	name = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.", c) {
			return c
		}
		return '_'
	}, name)
	name = name[:min(len(name), maxName)]
	if strings.Trim(name, ".") == "" {
		return "unnamed"
	}
	return name
}
