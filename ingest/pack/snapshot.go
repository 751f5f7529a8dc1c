package pack

import "gprof/rawformat"

// readEntry reads the header of a chunk file for the index. A live ring may be changing it: it is
// read again until its checksum fits, up to maxTries.
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

// maxTries bounds reading a changing header. A chunk is opened or closed within a microsecond,
// unless its writer was preempted.
const maxTries = 8

// settled reports whether a header is not being changed.
func settled(b []byte) bool {
	h, sealed, err := rawformat.ReadHeader(b)
	return err == nil && h.Epoch != 0 && (sealed || le.Uint32(b[rawformat.OffCloseCRC:]) == 0)
}

// copyChunk reads the chunk file of an entry into dst, which has its length:
//
//  1. At rest it is copied bit for bit.
//  2. Of a live chunk the header is read first and the trailer last. If both are of the use that
//     the entry tells of, nothing in between was reused.
//  3. Then the chunk is restored to the entry's moment.
//  4. Otherwise, or if it was not in use then, only its head is packed: its epoch 0 says that the
//     content was discarded.
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

// restore turns a copy of a live chunk file into what the entry tells of.
func (e *entry) restore(b []byte) []byte {
	h, sealed, err := rawformat.ReadHeader(e.header[:])
	switch {
	case err != nil:
		return b // the reader says so
	case h.Epoch == 0 || !sameUse(&h, b):
		return e.discardedHead()
	}
	copy(b, e.header[:])
	offset := h.Commit.Offset()
	if offset > h.Capacity {
		return b // likewise
	}
	payload := b[rawformat.HeadSize : rawformat.HeadSize+h.Capacity]
	clear(payload[offset:])
	if !sealed {
		// Seals since then may cover data that is cleared here.
		full := int(offset) / rawformat.PageSize
		clear(b[min(rawformat.HeaderSize+8*full, rawformat.HeadSize):rawformat.HeadSize])
	}
	return b
}

// sameUse reports whether header and trailer of a file belong to the use that h tells of.
func sameUse(h *rawformat.Header, b []byte) bool {
	if uint64(len(b)) != rawformat.HeadSize+uint64(h.Capacity)+rawformat.TrailerSize {
		return false
	}
	now, _, err := rawformat.ReadHeader(b)
	instance, epoch := rawformat.ReadTrailer(b[len(b)-rawformat.TrailerSize:])
	return err == nil && now.Instance == h.Instance && now.Epoch == h.Epoch && now.RangeStart == h.RangeStart &&
		instance == h.Instance && epoch == h.Epoch
}

// discardedHead is the head of a discarded chunk file as a ring leaves it: epoch 0, and a commit
// word that says whether it was in use.
func (e *entry) discardedHead() []byte {
	b := make([]byte, rawformat.HeadSize)
	copy(b, e.header[:])
	le.PutUint64(b[rawformat.OffEpoch:], 0)
	if le.Uint64(b[rawformat.OffCommit:]) == 0 {
		le.PutUint64(b[rawformat.OffCommit:], uint64(rawformat.MakeCommit(0, 1)))
	}
	return b
}
