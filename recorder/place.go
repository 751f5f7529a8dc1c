package recorder

import (
	"os"
	"path/filepath"
	"strings"

	"gprof/chunks/session"
	"gprof/rawformat"
	"gprof/recorder/internal/counters"
)

const (
	// sharedMemory is where a recording needs no disk and survives the process.
	sharedMemory = "/dev/shm"

	// A recording may take 1/freeShare of the free space, and 1/memoryShare of the memory
	// cgroup's limit.
	freeShare   = 4
	memoryShare = 16

	// worthwhile is how much room a recording should have in shared memory for that to be
	// chosen: a quarter of the 64 MB that containers get.
	worthwhile = 15 << 20
)

// defaultDir is where the session of that name lies by default. limit is the limit that was
// asked for, 0 if none was. A session in shared memory that exists, and leaves no more room
// there, is used again after a restart.
func defaultDir(name string, limit int64) (string, error) {
	if dir := sharedDir(); dir != "" {
		has := sessionLimit(filepath.Join(dir, name))
		if has > 0 && limit <= has || freeBytes(sharedMemory)/freeShare >= max(limit, worthwhile) {
			return dir, nil
		}
	}
	return stateDir()
}

// stateDir is where sessions lie on disk by default.
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

// SessionDirs returns the directories in which this user's sessions lie if programs don't
// say where: the one that the environment names, else shared memory and the state
// directory. They need not exist.
func SessionDirs() (dirs []string) {
	if env, _ := readSettings(); env.Dir != "" && env.Dir != DirInMemory { // Start reports malformed settings
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

// sessionLimit is the limit of an existing session, 0 if there is none.
func sessionLimit(dir string) int64 {
	s, err := session.Read(dir)
	if err != nil {
		return 0 // Start will find out why
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

// existing is dir, or the nearest directory above it that exists.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// roundChunk rounds n to a size that a chunk file may have.
func roundChunk(n int) int {
	n = (n + rawformat.ChunkAlign - 1) / rawformat.ChunkAlign * rawformat.ChunkAlign
	return min(max(n, rawformat.ChunkAlign), rawformat.MaxChunkFile)
}

// maxName bounds a directory's name, in bytes.
const maxName = 64

// sanitize makes a name fit for a directory.
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

// affordable is the default limit given the memory of the cgroup.
func affordable() int64 {
	limit := int64(defaultLimit)
	if memory := counters.MemoryLimit(); memory > 0 {
		limit = min(limit, memory/memoryShare)
	}
	return limit
}
