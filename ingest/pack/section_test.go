package pack

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"gprof/chunks"
	"gprof/chunks/sections"
	"gprof/rawformat"
)

// one is a section with its checksums.
func one(h sections.Header, stored []byte) []byte {
	h.Size, h.StoredCRC, h.RawCRC = uint32(len(stored)), sections.Checksum(stored), sections.Checksum(stored)
	return append(sections.Append(nil, &h), stored...)
}

// later makes a section one of another version.
func later(b []byte) []byte {
	b = slices.Clone(b)
	b[4]++
	le.PutUint32(b[sections.HeaderSize-4:], sections.Checksum(b[:sections.HeaderSize-4]))
	return b
}

// Sections that are not known or too large are passed over and told; what
// stands behind them is read.
func TestPassedOver(t *testing.T) {
	meta := one(sections.Header{Kind: sections.Meta, Instance: 1, RawSize: 4}, []byte("meta"))
	end := one(sections.Header{Kind: sections.End, Number: 2}, nil)
	for name, c := range map[string]struct {
		section []byte
		want    error
	}{
		"version":    {later(meta), rawformat.ErrVersion},
		"type":       {one(sections.Header{Kind: sections.NumKinds}, []byte("new")), rawformat.ErrVersion},
		"encoding":   {one(sections.Header{Kind: sections.Exit, Encoding: sections.NumEncodings, RawSize: 3}, []byte("new")), rawformat.ErrVersion},
		"raw size":   {one(sections.Header{Kind: sections.Exit, RawSize: rawformat.MaxMetaFile + 1}, []byte("x")), rawformat.ErrTooBig},
		"size":       {one(sections.Header{Kind: sections.Exit, RawSize: 1}, make([]byte, sections.MaxOverhead+2)), rawformat.ErrTooBig},
		"twice":      {meta, rawformat.ErrSyntax},
		"bad index":  {one(sections.Header{Kind: sections.Process, RawSize: 3}, []byte("abc")), rawformat.ErrSyntax},
		"many files": {one(sections.Header{Kind: sections.Process, RawSize: sections.MaxIndex, Encoding: sections.Zstd}, []byte("abc")), rawformat.ErrSyntax},
	} {
		data := slices.Concat(c.section, meta, end)
		if name == "twice" {
			data = slices.Concat(meta, c.section, end)
		}
		a, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil || len(a.Problems) != 1 || !errors.Is(a.Problems[0], c.want) {
			t.Errorf("%s: %v, %v", name, err, a.Problems)
			continue
		}
		if f := a.byName[instanceName(1)]; f == nil || f.files["meta"] == nil {
			t.Errorf("%s: what stands behind is not there", name)
		}
	}
}

// All that holds what was recorded is packed.
func TestEveryKindIsPacked(t *testing.T) {
	for _, kind := range chunks.Recorded() {
		if s, _, ok := sections.Named(kind.FileName(7)); !ok || int64(sections.MaxRaw[s]) < kind.MaxSize() {
			t.Errorf("%v: section %v, at most %d bytes", kind, s, sections.MaxRaw[s])
		}
	}
}

// Names are those that a recorder gives: nothing leads out of a directory.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"meta": "meta", "exit": "exit", "dict-001": "dict-001", "dict-1000": "dict-1000", "chunk-00000": "chunk-00000", "chunk-123456": "chunk-123456",
		"dict-1": "", "dict-0001": "", "chunk-0": "", "chunk--0001": "", "chunk-+0001": "", "chunk-../../x": "", "meta.new": "", "lock": "", "": "", "chunk-99999999999": "",
	} {
		got := ""
		if kind, number, ok := sections.Named(name); ok {
			got = sections.FileName(kind, number)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

// Chunks that were discarded, or were just being opened, are not taken for
// spare ones.
func TestGone(t *testing.T) {
	e := &entry{size: 64 << 10}
	h := rawformat.Header{Instance: 9, Epoch: 3, RangeStart: 1, Capacity: 64<<10 - rawformat.HeadSize - rawformat.TrailerSize}
	rawformat.PutHeader(e.header[:], &h)
	other := h
	other.Epoch = 4
	file := make([]byte, e.size)
	rawformat.PutHeader(file, &other)
	rawformat.PutTrailer(file[len(file)-rawformat.TrailerSize:], 9, 4)
	b := e.restore(file)
	got, _, err := rawformat.ReadHeader(b)
	if err != nil || len(b) != rawformat.HeadSize || got.Epoch != 0 || got.Commit == 0 || got.RangeStart != 1 {
		t.Errorf("%d bytes, %+v, %v", len(b), got, err)
	}
	le.PutUint64(e.header[rawformat.OffEpoch:], 0)
	if e.spare() {
		t.Error("a chunk that is being opened is spare")
	}
	rawformat.PutHeader(e.header[:], &rawformat.Header{Capacity: 4})
	if !e.spare() {
		t.Error("a chunk that was never used is not spare")
	}
}
