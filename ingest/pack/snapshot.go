package pack

import "gprof/rawformat"

// readEntry reads the header of a chunk file, which is what the index holds of
// it. The header of a live ring may be read in the moment in which it changes:
// it is read again until it fits its checksum, or has stayed away too long.
func readEntry(p *Process, f file) (e entry, err error) {
	in, err := p.open(f, rawformat.MaxChunkFile)
	if err != nil {
		return e, err
	}
	defer in.Close()
	e = entry{number: f.number, part: part{f, p}, size: uint32(min(in.size, rawformat.MaxChunkFile))}
	for range maxTries {
		clear(e.header[:])
		if _, err = in.read(e.header[:], 0); err != nil || !p.Live || settled(e.header[:]) {
			break
		}
	}
	return e, err
}

// maxTries is how often a header that is being changed is read. A chunk is
// opened or closed in well under a microsecond, unless its writer lost its
// processor.
const maxTries = 8

// settled reports whether a header is not being changed.
func settled(b []byte) bool {
	h, sealed, err := rawformat.ReadHeader(b)
	return err == nil && h.Epoch != 0 && (sealed || le.Uint32(b[rawformat.OffCloseCRC:]) == 0)
}

// copyChunk reads the chunk file of an entry into dst, which is as long as the
// file was:
//  1. At rest a file is copied bit for bit.
//  2. Of a live ring's chunk the header comes first and the trailer last. If
//     both tell of the use of the file that the entry tells of, nothing in
//     between was reused meanwhile.
//  3. Then the chunk is put back to how it was at the entry's moment.
//  4. Else, or if it was not in use then, its head is all that is packed: with
//     an epoch of 0 it says that its content was discarded.
func copyChunk(e *entry, dst []byte) ([]byte, error) {
	in, err := e.from.open(e.file, rawformat.MaxChunkFile)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	end := max(0, len(dst)-rawformat.TrailerSize)
	body, err := in.read(dst[:end], 0)
	if err != nil {
		return nil, err
	}
	if len(body) == end {
		trailer, err := in.read(dst[end:], int64(end))
		if err != nil {
			return nil, err
		}
		body = dst[:end+len(trailer)]
	}
	if !e.from.Live {
		return body, nil
	}
	return e.restore(body), nil
}

// restore turns a copy of a live ring's chunk file into what the entry tells
// of.
func (e *entry) restore(b []byte) []byte {
	h, sealed, err := rawformat.ReadHeader(e.header[:])
	switch {
	case err != nil:
		return b // the reader says so
	case h.Epoch == 0 || !sameUse(&h, b):
		return e.gone()
	}
	copy(b, e.header[:])
	offset := h.Commit.Offset()
	if offset > h.Capacity {
		return b // likewise
	}
	payload := b[rawformat.HeadSize : rawformat.HeadSize+h.Capacity]
	clear(payload[offset:])
	if !sealed {
		// What was sealed since may be sealed over more than was there.
		full := int(offset) / rawformat.PageSize
		clear(b[min(rawformat.HeaderSize+8*full, rawformat.HeadSize):rawformat.HeadSize])
	}
	return b
}

// sameUse reports whether header and trailer of a whole file belong to the use
// of it that h tells of.
func sameUse(h *rawformat.Header, b []byte) bool {
	if uint64(len(b)) != rawformat.HeadSize+uint64(h.Capacity)+rawformat.TrailerSize {
		return false
	}
	now, _, err := rawformat.ReadHeader(b)
	instance, epoch := rawformat.ReadTrailer(b[len(b)-rawformat.TrailerSize:])
	return err == nil && now.Instance == h.Instance && now.Epoch == h.Epoch && now.RangeStart == h.RangeStart &&
		instance == h.Instance && epoch == h.Epoch
}

// gone is the head of a chunk file that is not in use any more, as a ring leaves
// it: the epoch is 0, and a commit word that is not says that it was in use.
func (e *entry) gone() []byte {
	b := make([]byte, rawformat.HeadSize)
	copy(b, e.header[:])
	le.PutUint64(b[rawformat.OffEpoch:], 0)
	if le.Uint64(b[rawformat.OffCommit:]) == 0 {
		le.PutUint64(b[rawformat.OffCommit:], uint64(rawformat.MakeCommit(0, 1)))
	}
	return b
}
