package rawformat

import "hash/crc32"

// Sizes of the control page.
const (
	// MaxSlots is how many instances a session counts, living and dead.
	MaxSlots = 1024

	// SlotSize is two cache lines. The words that a sum needs are in the first one.
	SlotSize = 128

	ControlHeadSize = PageSize
	ControlSize     = ControlHeadSize + MaxSlots*SlotSize

	// MaxLimit is the largest limit of a session. Values of slots are capped at it, so
	// that the sum of 1,024 slots cannot overflow.
	MaxLimit = 1 << 50
)

// Offsets of the control page's words, each of 8 bytes. They are stored with
// atomics by any process.
const (
	OffControlLimit   = 64  // bytes, for all processes
	OffControlCommand = 72  // generation << 8 | [Command]
	OffControlSlots   = 80  // no slot from this number on was ever used
	OffControlProbe   = 128 // counts probes for dead owners; a cache line of its own
)

// Offsets of a slot's words, each of 8 bytes.
const (
	OffSlotInstance  = 0   // 0: free
	OffSlotOwner     = 8   // [SlotKind] << 32 | pid
	OffSlotHeld      = 16  // bytes of all files of the instance
	OffSlotChunk     = 24  // bytes of a chunk file
	OffSlotOldest    = 32  // done times of the oldest chunks that can be given up, 0: none; SlotOldest words
	OffSlotRequest   = 56  // give up what was done at or before this time; 0: no request. Other processes store it
	OffSlotReleased  = 64  // bytes of the chunk files that can be given up
	OffSlotStart     = 72  // range start
	OffSlotEnd       = 80  // hand-out mark
	OffSlotDiscarded = 88  // chunks that were ever discarded
	OffSlotObeyed    = 96  // generation of the last command that was obeyed
	OffSlotKeep      = 104 // ns before a crash that are protected
	OffSlotEnded     = 112 // when a dead owner committed for the last time; 0: alive
	OffSlotGuarded   = 120 // bytes of what a dead owner recorded in its last Keep, and of what belongs to it

	// Of a slot of [SlotChild] two words say something else.
	OffSlotParent = OffSlotObeyed  // instance of its parent
	OffSlotMark   = OffSlotGuarded // its parent's hand-out mark when it ended

	SlotOldest = 3
)

// SlotKind says what became of the owner of a slot.
type SlotKind uint32

const (
	SlotLive    SlotKind = 1 // alive, or its death was not noticed yet
	SlotClean   SlotKind = 2 // ended, and said so
	SlotCrashed SlotKind = 3 // found dead
	SlotChild   SlotKind = 4 // ended, and said so, and what its parent was recording then
)

// Command is what the processes of a session are told.
type Command uint8

const (
	CommandStart  Command = 0 // record; a session begins with it
	CommandPause  Command = 1
	CommandResume Command = 2
	CommandStop   Command = 3
)

// Commands names them, in order.
var Commands = []string{"start", "pause", "resume", "stop"}

func (c Command) String() string {
	if int(c) < len(Commands) {
		return Commands[c]
	}
	return "unknown command"
}

// MaxGeneration is the last generation of commands.
const MaxGeneration = 1<<56 - 1

// ControlHeader is the beginning of the control page:
//
//	 0  magic "gprS"       4     64  limit            8
//	 4  version            2     72  command          8
//	 6  zero               2     80  slots            8
//	 8  number of slots    4    128  probe            8
//	12  bytes of a slot    4
//	16  created            8
//	24  CRC-32C of fixed   4
//	28  zero              36
//
// The bytes before the CRC are fixed.
type ControlHeader struct {
	Version    uint16
	Created    int64 // ns since the Unix epoch
	Limit      int64
	Command    Command
	Generation uint64 // of the command
	Slots      int    // that were ever used
}

// PutControl writes the fixed fields to the first 64 bytes of dst.
func PutControl(dst []byte, created int64) {
	clear(dst[:OffControlLimit])
	copy(dst, MagicControl)
	le.PutUint16(dst[4:], Version)
	le.PutUint32(dst[8:], MaxSlots)
	le.PutUint32(dst[12:], SlotSize)
	le.PutUint64(dst[16:], uint64(created))
	le.PutUint32(dst[OffControlCRC:], crc32.Update(0, castagnoli, dst[:OffControlCRC]))
}

// ReadControl reads the beginning of a control page, [ControlHeadSize] bytes or
// more. The error is an [*Error] of class [ErrTruncated], [ErrMagic],
// [ErrVersion], [ErrHeader] or [ErrTooBig]; with the last one only the limit is
// wrong, and is 0.
func ReadControl(b []byte) (h ControlHeader, err error) {
	if len(b) < ControlHeadSize {
		return h, &Error{int64(len(b)), "control page", ErrTruncated}
	}
	h = ControlHeader{
		Version: le.Uint16(b[4:]), Created: int64(le.Uint64(b[16:])), Limit: int64(le.Uint64(b[OffControlLimit:])),
		Command: Command(b[OffControlCommand]), Generation: le.Uint64(b[OffControlCommand:]) >> 8,
		Slots: int(min(le.Uint64(b[OffControlSlots:]), MaxSlots)),
	}
	switch {
	case string(b[:4]) != MagicControl:
		return h, &Error{0, "control page", ErrMagic}
	case h.Version > Version:
		return h, &Error{4, "control page", ErrVersion}
	case crc32.Update(0, castagnoli, b[:OffControlCRC]) != le.Uint32(b[OffControlCRC:]):
		return h, &Error{OffControlCRC, "control page", ErrHeader}
	case le.Uint32(b[8:]) != MaxSlots || le.Uint32(b[12:]) != SlotSize:
		return h, &Error{8, "number and size of slots", ErrHeader}
	case h.Limit <= 0 || h.Limit > MaxLimit:
		h.Limit = 0
		return h, &Error{OffControlLimit, "limit", ErrTooBig}
	}
	return h, nil
}

// Slot is the content of a slot. It is read word by word while the owner stores, so that
// two words need not be of the same moment.
type Slot struct {
	Instance  uint64 // 0: free
	Kind      SlotKind
	Pid       uint32 // in the owner's pid namespace
	Held      int64  // bytes, 0 to MaxLimit
	Chunk     int64  // bytes, 0 to MaxChunkFile
	Oldest    [SlotOldest]int64
	Request   int64
	Released  int64  // bytes, 0 to MaxLimit
	Start     uint64 // index
	End       uint64 // index
	Discarded uint64
	Obeyed    uint64
	Keep      int64 // ns
	Ended     int64 // ns since the Unix epoch, 0 while the owner lives
	Guarded   int64 // bytes of what a dead owner recorded in its last Keep, and of what belongs to it

	// Of a SlotChild, instead of Obeyed and Guarded; otherwise 0.
	Parent uint64 // instance
	Mark   uint64 // the parent's hand-out mark at the end
}

// MakeSlot makes a slot of its words, which load returns by offset.
func MakeSlot(load func(off int) uint64) Slot {
	owner := load(OffSlotOwner)
	s := Slot{
		Instance: load(OffSlotInstance), Kind: SlotKind(owner >> 32), Pid: uint32(owner),
		Held: clip(load(OffSlotHeld), MaxLimit), Chunk: clip(load(OffSlotChunk), MaxChunkFile),
		Request: int64(load(OffSlotRequest)), Released: clip(load(OffSlotReleased), MaxLimit),
		Start: load(OffSlotStart), End: load(OffSlotEnd), Discarded: load(OffSlotDiscarded), Obeyed: load(OffSlotObeyed),
		Keep: int64(load(OffSlotKeep)), Ended: int64(load(OffSlotEnded)), Guarded: clip(load(OffSlotGuarded), MaxLimit),
	}
	if s.Kind == SlotChild {
		s.Parent, s.Mark = load(OffSlotParent), load(OffSlotMark)
		s.Obeyed, s.Guarded = 0, 0
	}
	for i := range s.Oldest {
		s.Oldest[i] = int64(load(OffSlotOldest + 8*i))
	}
	return s
}

// clip returns a word from another process as a size of at most most.
func clip(v uint64, most int64) int64 { return int64(min(v, uint64(most))) }

// ReadSlot reads a slot from its [SlotSize] bytes.
func ReadSlot(b []byte) Slot {
	b = b[:SlotSize]
	return MakeSlot(func(off int) uint64 { return le.Uint64(b[off:]) })
}
