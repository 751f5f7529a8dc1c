package chunks

import (
	"strings"

	"gprof/rawformat"
)

// FileKind is what a file of a session holds.
type FileKind uint8

const (
	NoFile FileKind = iota // none of ours
	ChunkFile
	DictFile
	MetaFile
	ExitFile
	ControlFile
)

var magics = [...]string{ChunkFile: rawformat.MagicChunk, DictFile: rawformat.MagicDict, MetaFile: rawformat.MagicMeta, ExitFile: rawformat.MagicExit, ControlFile: rawformat.MagicControl}

func (k FileKind) String() string {
	return [...]string{"unknown file", "chunk file", "dictionary", "meta file", "exit file", "control page"}[k]
}

// MaxSize is the most bytes that a file of that kind may have, 0 of one that is
// none of ours.
func (k FileKind) MaxSize() int64 {
	return [...]int64{0, rawformat.MaxChunkFile, rawformat.MaxRecordFile, rawformat.MaxMetaFile, rawformat.MaxMetaFile, rawformat.ControlSize}[k]
}

// Named tells by its name what a file of an instance directory should hold.
func Named(base string) FileKind {
	switch {
	case strings.HasPrefix(base, "chunk-"):
		return ChunkFile
	case strings.HasPrefix(base, "dict-"):
		return DictFile
	case base == "meta":
		return MetaFile
	case base == "exit":
		return ExitFile
	}
	return NoFile
}

// Sniff tells a file by its first bytes, four or more.
func Sniff(head []byte) FileKind {
	for k := ChunkFile; int(k) < len(magics); k++ {
		if m := magics[k]; len(head) >= len(m) && string(head[:len(m)]) == m {
			return k
		}
	}
	return NoFile
}
