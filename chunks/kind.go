package chunks

import (
	"fmt"
	"strconv"
	"strings"

	"gprof/rawformat"
)

// Names of files of which a directory has one. NewSuffix ends the name of a file that is
// being written.
const (
	MetaName    = "meta"
	ExitName    = "exit"
	LockName    = "lock"
	ControlName = "control"
	NewSuffix   = ".new"
)

// FileKind says what a file of a session holds.
type FileKind uint8

const (
	NoFile FileKind = iota // none of ours
	MetaFile
	ExitFile
	DictFile
	StacksFile
	TraceFile
	ChunkFile
	LockFile
	ControlFile // beside the directories of processes

	numFileKinds
)

// fileKinds is the one list of what lies in a process' directory, and beside it. Every
// reader and every copy goes by it, so that a kind cannot be known to some and missing in
// others.
var fileKinds = [numFileKinds]struct {
	what           string // for people
	prefix, suffix string // of the file's name
	digits         int    // minimum, of the number between them; 0: it has no number
	magic          string // what it begins with; "": nothing in particular
	max            int64  // bytes; 0: it holds nothing that was recorded
}{
	NoFile:      {what: "unknown file"},
	MetaFile:    {"meta file", MetaName, "", 0, rawformat.MagicMeta, rawformat.MaxMetaFile},
	ExitFile:    {"exit file", ExitName, "", 0, rawformat.MagicExit, rawformat.MaxMetaFile},
	DictFile:    {"dictionary", "dict-", "", 3, rawformat.MagicDict, rawformat.MaxRecordFile},
	StacksFile:  {"stack ring", "stacks-", "", 1, rawformat.MagicStacks, rawformat.StacksFile},
	TraceFile:   {"execution trace", "trace-", ".out", 3, "", rawformat.MaxTraceFile},
	ChunkFile:   {"chunk file", "chunk-", "", 5, rawformat.MagicChunk, rawformat.MaxChunkFile},
	LockFile:    {"lock", LockName, "", 0, "", 0},
	ControlFile: {"control page", ControlName, "", 0, rawformat.MagicControl, rawformat.ControlSize},
}

// Recorded returns the kinds of files that hold what was recorded, in the order in which
// the files of a live process must be copied: each kind before what it refers to, and
// stack rings before the chunks to which their samples are moved.
func Recorded() []FileKind {
	return []FileKind{StacksFile, ChunkFile, DictFile, MetaFile, ExitFile, TraceFile}
}

func (k FileKind) String() string { return fileKinds[k].what }

// MaxSize is the largest size of a file of that kind, in bytes; 0 if it holds nothing that
// was recorded.
func (k FileKind) MaxSize() int64 { return fileKinds[k].max }

// HasText reports whether such a file has a text twin.
func (k FileKind) HasText() bool {
	return k == ChunkFile || k == DictFile || k == MetaFile || k == ExitFile
}

// FileName is the name of a file of that kind. The number is ignored for kinds of which a
// directory has one file.
func (k FileKind) FileName(number uint32) string {
	f := &fileKinds[k]
	if f.digits == 0 {
		return f.prefix
	}
	return fmt.Sprintf("%s%0*d%s", f.prefix, f.digits, number, f.suffix)
}

// Named returns the kind of a file in a process' directory, and its number, by its name.
// For a name that a recorder does not give, and for that of a file which is being
// written, it returns NoFile.
func Named(base string) (FileKind, uint32) {
	for k := MetaFile; k < ControlFile; k++ {
		f := &fileKinds[k]
		number := uint64(0)
		if f.digits > 0 {
			digits, ok := strings.CutPrefix(base, f.prefix)
			var err error
			if number, err = strconv.ParseUint(strings.TrimSuffix(digits, f.suffix), 10, 32); err != nil || !ok {
				continue
			}
		}
		if k.FileName(uint32(number)) == base {
			return k, uint32(number)
		}
	}
	return NoFile, 0
}

// KindOf is Named without the number.
func KindOf(base string) FileKind {
	kind, _ := Named(base)
	return kind
}

// Sniff returns the kind of a file by its first bytes, four or more.
func Sniff(head []byte) FileKind {
	for k := range numFileKinds {
		if m := fileKinds[k].magic; m != "" && strings.HasPrefix(string(head[:min(len(head), len(m))]), m) {
			return k
		}
	}
	return NoFile
}
