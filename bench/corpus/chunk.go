package corpus

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"gprof/rawformat"
)

// room is more than any of our blocks takes, with a sync block before it.
const room = 256

// writer fills chunk files one after the other.
type writer struct {
	p      *process
	number int
	file   []byte // of the chunk; nil before the first
	header rawformat.Header
	at     uint32
	blocks uint32
	page   int // in which a block begins already
	tick   uint64
	who    int // the goroutine of the context
	dict   *dictionary
	last   map[int]int32 // node of a goroutine's last sample in this chunk
	body   []byte
}

// begin makes room for a block of that kind at that moment. Its time is written
// where it stands among the fields, by time.
func (w *writer) begin(k rawformat.Kind, now uint64) error {
	if w.file == nil || int(w.at)+room > len(w.payload()) {
		if err := w.turn(now); err != nil {
			return err
		}
	}
	if p := int(w.at) / rawformat.PageSize; p != w.page {
		w.page = p
		w.first(p, w.at%rawformat.PageSize)
		w.sync()
	}
	w.body = append(w.body[:0], byte(k))
	return nil
}

func (w *writer) payload() []byte {
	return w.file[rawformat.HeadSize : len(w.file)-rawformat.TrailerSize]
}

// time appends a moment to the block.
func (w *writer) time(now uint64) {
	w.body = rawformat.AppendSint(w.body, int64(now-w.tick))
	w.tick = now
}

func (w *writer) fields(values ...uint64) {
	for _, v := range values {
		w.body = rawformat.AppendUint(w.body, v)
	}
}

// end stores the block.
func (w *writer) end() {
	block := rawformat.AppendBlock(w.payload()[w.at:w.at], w.body)
	w.at += uint32(len(block))
	w.blocks++
}

func (w *writer) sync() {
	w.body = append(w.body[:0], byte(rawformat.KindSync))
	w.fields(w.header.RangeStart+uint64(w.at), w.header.Epoch, w.tick, goroutine(w.who), w.p.track(w.who))
	w.end()
}

// first notes where in a page its first block begins.
func (w *writer) first(page int, offset uint32) {
	entry := w.file[rawformat.HeaderSize+8*page:]
	binary.LittleEndian.PutUint64(entry, uint64(rawformat.MakePageEntry(0, offset)))
}

// turn opens the next chunk.
func (w *writer) turn(now uint64) error {
	if err := w.seal(now); err != nil {
		return err
	}
	p := w.p
	if w.file == nil {
		w.file = make([]byte, p.options.ChunkFile)
	}
	clear(w.file)
	clear(w.last)
	w.dict = p.dict
	w.dict.writers++
	p.epoch++
	w.header = rawformat.Header{Instance: p.instance, Epoch: p.epoch, RangeStart: p.next, Capacity: uint32(len(w.payload())), Pid: p.pid,
		Writer: uint16(w.number), Generation: uint16(w.dict.generation), Open: p.anchor(now), State: rawformat.StateDone, Held: 1}
	p.next += uint64(w.header.Capacity)
	w.at, w.blocks, w.page, w.tick, w.who = 0, 0, -1, now, -1
	return nil
}

// seal closes the chunk and writes its file.
func (w *writer) seal(now uint64) error {
	if w.blocks == 0 {
		return nil
	}
	w.header.Commit, w.header.Close = rawformat.MakeCommit(w.at, w.blocks), w.p.anchor(now)
	table := [rawformat.HeadSize]byte(w.file)
	rawformat.PutHeader(w.file, &w.header)
	for p := range rawformat.Pages(w.at) {
		w.sealPage(p, rawformat.PageEntry(binary.LittleEndian.Uint64(table[rawformat.HeaderSize+8*p:])))
	}
	rawformat.PutTrailer(w.file[len(w.file)-rawformat.TrailerSize:], w.header.Instance, w.header.Epoch)
	name := filepath.Join(w.p.dir, fmt.Sprintf("chunk-%05d", w.header.Epoch-1))
	w.p.corpus.Chunks++
	w.p.corpus.Bytes += int64(w.at)
	w.p.bytes += int64(w.at)
	w.blocks = 0
	if w.dict.writers--; w.dict.writers == 0 && w.dict != w.p.dict {
		if err := w.dict.close(); err != nil {
			return err
		}
	}
	return os.WriteFile(name, w.file, 0o600)
}

func (w *writer) sealPage(p int, first rawformat.PageEntry) {
	data := w.payload()[p*rawformat.PageSize : min((p+1)*rawformat.PageSize, int(w.at))]
	offset := uint32(rawformat.PageSize) // no block begins here
	if first.Sealed() {
		offset = first.First()
	}
	crc := rawformat.PageCRC(w.header.Instance, w.header.Epoch, data)
	binary.LittleEndian.PutUint64(w.file[rawformat.HeaderSize+8*p:], uint64(rawformat.MakePageEntry(crc, offset)))
}
