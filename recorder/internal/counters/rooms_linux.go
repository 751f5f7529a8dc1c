package counters

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// machineShare is the part of the machine's memory that a process must have for the machine's memory
// to be read, once a second: that takes some 13 µs, and a smaller process is not the one that the
// kernel ends first.
const machineShare = 8

// processRooms are the limits of a process that lie outside of cgroups.
type processRooms struct {
	rooms           *Rooms
	available       kernelFile // /proc/meminfo
	machine         int64      // bytes that the machine has
	addresses, data int64      // limits, in bytes
	reserved        int64      // addresses that were taken at first but are not data, in bytes; -1 unknown
	spare           int64      // of the machine, in bytes; -1 unknown
	due             time.Time  // when that is read again
}

func (k *kernel) openRooms() *processRooms {
	p := &processRooms{rooms: k.rooms, spare: -1, reserved: -1}
	p.available, _ = k.keep("proc/meminfo") // without it the machine's memory is unknown
	kilobytes, _ := keyed(p.available.read(), "MemTotal")
	p.machine = kilobytes << 10
	return p
}

// note takes the size of the process, of what is resident of it, and of its data, in bytes.
func (p *processRooms) note(now time.Time, size, resident, data int64) {
	if !now.Before(p.due) {
		p.due = now.Add(slowEvery)
		p.read(resident)
	}
	p.addresses, p.data = resourceLimit(unix.RLIMIT_AS), resourceLimit(unix.RLIMIT_DATA)
	p.rooms[RoomAddresses] = p.addressRoom(size, data)
	p.rooms[RoomData] = limited(data, p.data)
	p.rooms[RoomMachine] = Room{}
	if p.spare >= 0 {
		p.rooms[RoomMachine] = Room{resident, resident + p.spare}
	}
}

// addressRoom is the room for addresses. Go's runtime reserves more than a gigabyte of them before a program
// allocates anything: with these, a small limit would seem to be nearly reached from the beginning on.
func (p *processRooms) addressRoom(size, data int64) Room {
	if p.reserved < 0 {
		p.reserved = max(0, size-data)
	}
	room := limited(size, p.addresses)
	if room.Limit == 0 {
		return room
	}
	return Room{Used: max(0, room.Used-p.reserved), Limit: max(1, room.Limit-p.reserved)}
}

func (p *processRooms) read(resident int64) {
	p.spare = -1
	if p.machine > 0 && resident >= p.machine/machineShare {
		if kilobytes, ok := keyed(p.available.read(), "MemAvailable"); ok {
			p.spare = kilobytes << 10
		}
	}
}

// resourceLimit is a limit of this process, 0 if there is none.
func resourceLimit(which int) int64 {
	var limit unix.Rlimit
	if unix.Getrlimit(which, &limit) != nil || limit.Cur >= unlimited {
		return 0
	}
	return int64(limit.Cur)
}

// memoryPages reads /proc/self/statm: of the process, what is mapped, what is resident, and what is its
// own, in pages.
func memoryPages(text []byte) (size, resident, data int64, ok bool) {
	var n [6]int64
	for i := range n {
		if n[i], text, ok = cutNumber(text); !ok {
			return 0, 0, 0, false
		}
	}
	return n[0], n[1], n[5], true
}

var pageSize = int64(os.Getpagesize())
