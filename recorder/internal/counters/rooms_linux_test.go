package counters

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// sink is an Output that keeps nothing.
type sink struct{}

func (sink) Define(records ...[]byte) int { return len(records) }
func (sink) Tick() int64                  { return 0 }
func (sink) Write(int, Reading, int64)    {}

// The rooms of a process follow what the kernel's files say, whatever becomes of them.
func TestRooms(t *testing.T) {
	const none = "9223372036854771712"
	for _, tt := range []struct {
		name  string
		files map[string]string // that differ
		want  Room              // of the cgroup
	}{
		{"version 2", nil, Room{300, 1000}},
		{"no limit", map[string]string{"memory.max": "max"}, Room{}},
		{"a limit that is lowered below the use", map[string]string{"memory.max": "200"}, Room{300, 200}},
		{"a limit that can't be read", map[string]string{"memory.max": ""}, Room{}},
		{"nonsense for a limit", map[string]string{"memory.max": "-7"}, Room{}},
		{"no use", map[string]string{"memory.current": ""}, Room{}},
		{"a number of version 1", map[string]string{"memory.max": none}, Room{}},
		{"more than 64 bits", map[string]string{"memory.max": strings.Repeat("9", 30)}, Room{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := cgroups(t, map[string]string{
				"proc/self/cgroup": "0::/\n", "proc/self/statm": "1000 100 50 10 0 400 0\n", "proc/meminfo": "MemTotal: 1000 kB\nMemAvailable: 600 kB\n",
				"sys/fs/cgroup/memory.max": "1000\n", "sys/fs/cgroup/memory.current": "300\n", "sys/fs/cgroup/memory.stat": "inactive_file 0\n"})
			m := Meter{base: time.Now()}
			m.openSystem(root)
			defer m.Close()
			m.Round(sink{}, time.Second)
			for name, content := range tt.files {
				if err := os.WriteFile(filepath.Join(root, "sys/fs/cgroup", name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			m.Last(sink{}, 10*time.Second)
			for deadline := time.Now().Add(time.Minute); m.Rooms()[RoomGroup] != tt.want && time.Now().Before(deadline); { // the limit is read once a second
				time.Sleep(10 * time.Millisecond)
				m.Last(sink{}, 10*time.Second)
			}
			if got := m.Rooms()[RoomGroup]; got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
			resident := 100 * pageSize
			if got, want := m.Rooms()[RoomMachine], (Room{resident, resident + 600<<10}); got != want {
				t.Errorf("of the machine %v, want %v", got, want)
			}
		})
	}
}

// A resource limit counts as soon as it is set, and no longer than it is there.
func TestRoomsOfResourceLimits(t *testing.T) {
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &before); err != nil {
		t.Fatal(err)
	}
	var rooms Rooms
	p := processRooms{rooms: &rooms}
	defer unix.Setrlimit(unix.RLIMIT_DATA, &before)
	now := time.Now()
	for _, limit := range []uint64{1 << 40, unix.RLIM_INFINITY, 1 << 41} {
		if err := unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: limit, Max: before.Max}); err != nil {
			t.Fatal(err)
		}
		now = now.Add(slowEvery)
		p.note(now, 5, 6, 7)
		want := Room{7, int64(limit)}
		if limit == unix.RLIM_INFINITY {
			want = Room{}
		}
		if rooms[RoomData] != want {
			t.Errorf("%v, want %v", rooms[RoomData], want)
		}
	}
}

// Addresses that the runtime reserves from the beginning on are no part of a limit of them: it is reached
// as soon as all the others are taken.
func TestAddressRoom(t *testing.T) {
	p := processRooms{reserved: -1, addresses: 1350}
	for _, tt := range []struct {
		size, data, limit int64
		want              Room
	}{
		{1220, 20, 1350, Room{20, 150}},
		{1284, 30, 1350, Room{84, 150}}, // 64 more were reserved
		{1350, 140, 1350, Room{150, 150}},
		{1100, 10, 1350, Room{0, 150}},
		{1220, 20, 1000, Room{20, 1}}, // lowered below what is reserved
		{1220, 20, unlimited, Room{}},
	} {
		p.addresses = tt.limit
		if got := p.addressRoom(tt.size, tt.data); got != tt.want {
			t.Errorf("%d, of them %d data, of %d: %v, want %v", tt.size, tt.data, tt.limit, got, tt.want)
		}
	}
	rooms := Rooms{RoomGroup: {1, 10}, RoomAddresses: {20, 150}, RoomMachine: {1, 20}}
	if share, name := rooms.Share(); share != 20./150 || name != "RLIMIT_AS" {
		t.Errorf("%v of %s", share, name)
	}
}

func TestMemoryPages(t *testing.T) {
	for text, ok := range map[string]bool{"1 2 3 4 5 6 7\n": true, "1 2 3 4 5\n": false, "": false, "a b c d e f": false} {
		if size, resident, data, got := memoryPages([]byte(text)); got != ok || ok && (size != 1 || resident != 2 || data != 6) {
			t.Errorf("%q: %d, %d, %d, %v", text, size, resident, data, got)
		}
	}
}

// What the limits cost once a second.
func BenchmarkRooms(b *testing.B) {
	k := &kernel{root: "/", rooms: new(Rooms)}
	defer k.close()
	p := k.openRooms()
	for name, resident := range map[string]int64{"small": 0, "large": p.machine} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p.read(resident)
			}
		})
	}
}
