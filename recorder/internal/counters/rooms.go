package counters

// Room is a limit of memory that ends the process when it is reached, or slows it, and how much of that
// is in use.
type Room struct{ Used, Limit int64 } // bytes; Limit 0: there is none, or it is not known

// The rooms that a process has.
const (
	RoomGroup     = iota // the memory cgroup's limit
	RoomGo               // GOMEMLIMIT, or debug.SetMemoryLimit
	RoomAddresses        // RLIMIT_AS, of which what is reserved from the beginning is no part
	RoomData             // RLIMIT_DATA
	RoomMachine          // what the process has and the machine has to spare
	NumRooms
)

// RoomNames are their names, for people.
var RoomNames = [NumRooms]string{"cgroup", "GOMEMLIMIT", "RLIMIT_AS", "RLIMIT_DATA", "machine"}

// Rooms are all of them.
type Rooms [NumRooms]Room

// Rooms are as of the last round. They are found in what counters read anyway, except for the limits,
// which are read once a second, and the machine's, see machineShare.
func (m *Meter) Rooms() *Rooms { return &m.rooms }

// limited is a room if there is a limit, which for the system may be a very large number.
func limited(used, limit int64) Room {
	if limit <= 0 || limit >= unlimited {
		return Room{}
	}
	return Room{used, limit}
}

// unlimited and larger values mean no limit: version 1 of cgroups writes the largest number, rounded
// down to a page, and so do the runtime and the kernel.
const unlimited = 1 << 62
