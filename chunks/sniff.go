package chunks

import (
	"strings"

	"gprof/rawformat"
)

// FileKind is what a file of an instance directory holds.
type FileKind uint8

const (
	NoFile FileKind = iota // none of ours
	ChunkFile
	DictFile
	MetaFile
	ExitFile
)

var magics = [...]string{ChunkFile: rawformat.MagicChunk, DictFile: rawformat.MagicDict, MetaFile: rawformat.MagicMeta, ExitFile: rawformat.MagicExit}

func (k FileKind) String() string {
	return [...]string{"unknown file", "chunk file", "dictionary", "meta file", "exit file"}[k]
}

// Sniff tells a file by its first bytes, four or more.
func Sniff(head []byte) FileKind {
	for k := ChunkFile; int(k) < len(magics); k++ {
		if strings.HasPrefix(string(head), magics[k]) {
			return k
		}
	}
	return NoFile
}
