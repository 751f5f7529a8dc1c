package chunks

import (
	"fmt"
	"strconv"
	"strings"

	"gprof/rawformat"
)

// Names of files of which a directory has one. newSuffix ends the name of a file
// that is being written.
const (
	MetaName    = "meta"
	ExitName    = "exit"
	LockName    = "lock"
	ControlName = "control"
	NewSuffix   = ".new"
)

// FileKind is what a file of a session holds.
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
	ControlFile // lies beside the processes' directories

	numFileKinds
)

// fileKinds is the one list of what lies in a process' directory, and beside it.
// Every reader and every copy goes by it: what is missing here is lost in all of
// them, not in some.
var fileKinds = [numFileKinds]struct {
	what           string // for people
	prefix, suffix string // of the file's name
	digits         int    // at least, of the number between them; 0: it has none
	magic          string // what it begins with; "": it is not told by that
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

// Recorded are the kinds of files in a process' directory that hold what was
// recorded, in the order in which a live process' files are copied: each kind before
// what it refers to, stack rings before the chunks that their samples go to.
func Recorded() []FileKind {
	return []FileKind{StacksFile, ChunkFile, DictFile, MetaFile, ExitFile, TraceFile}
}

func (k FileKind) String() string { return fileKinds[k].what }

// MaxSize is the most bytes that a file of that kind may have, 0 of one that holds
// nothing that was recorded.
func (k FileKind) MaxSize() int64 { return fileKinds[k].max }

// HasText reports whether such a file has a text twin.
func (k FileKind) HasText() bool {
	return k == ChunkFile || k == DictFile || k == MetaFile || k == ExitFile
}

// FileName is the name of a file of that kind. Those of which a directory has one
// have no number.
func (k FileKind) FileName(number uint32) string {
	f := &fileKinds[k]
	if f.digits == 0 {
		return f.prefix
	}
	return fmt.Sprintf("%s%0*d%s", f.prefix, f.digits, number, f.suffix)
}

// Named tells by its name what a file of a process' directory holds. Names that a
// recorder does not give are none of ours, and neither is that of a file which is
// being written.
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

// kindOf is Named without the number.
func KindOf(base string) FileKind {
	kind, _ := Named(base)
	return kind
}

// Sniff tells a file by its first bytes, four or more.
func Sniff(head []byte) FileKind {
	for k := range numFileKinds {
		if m := fileKinds[k].magic; m != "" && strings.HasPrefix(string(head[:min(len(head), len(m))]), m) {
			return k
		}
	}
	return NoFile
}
