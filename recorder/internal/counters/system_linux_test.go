package counters

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"gprof/rawformat"
)

// shown returns the counters of a machine whose kernel shows these files, and the counters that are reported
// absent.
func shown(t testing.TB, files map[string]string) (values map[string]Reading, absent []string) {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		write(t, root, name, text)
	}
	var m Meter
	m.openSystem(root)
	defer m.Close()
	values = readings(&m)
	for _, name := range []string{"process CPU", "major faults", "open files limit"} { // of this process
		delete(values, name)
	}
	for _, a := range m.absent {
		absent = append(absent, a.what)
	}
	return values, absent
}

func write(t testing.TB, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// readings reads all gauges once.
func readings(m *Meter) map[string]Reading {
	values := map[string]Reading{}
	for _, g := range m.gauges {
		v := make([]Reading, len(g.specs))
		g.read(v)
		for i, c := range v {
			if c.Known {
				values[g.specs[i].Name] = c
			}
		}
	}
	return values
}

const (
	netDev = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 500 5 0 0 0 0 0 0 500 5 0 0 0 0 0 0
  eth0:1000 10 1 2 3 4 5 6 2000 20 0 0 0 0 0 0
 wlan0: 30 3 0 0 0 0 0 0 40 4 0 0 0 0 0 0
`
	psi = `some avg10=0.00 avg60=1.23 avg300=0.60 total=%SOME
full avg10=0.00 avg60=0.00 avg300=0.00 total=%FULL
`
	rchar = "rchar: 323934931\nwchar: 323929600\nsyscr: 632687\nsyscw: 632675\nread_bytes: 4096\nwrite_bytes: 323932160\ncancelled_write_bytes: 0\n"
)

func pressure(some, full string) string {
	return strings.NewReplacer("%SOME", some, "%FULL", full).Replace(psi)
}

// The files of all kinds of kernels become the same counters.
func TestSystemCounters(t *testing.T) {
	for _, tt := range []struct {
		name   string
		files  map[string]string
		want   map[string]Reading
		absent []string
	}{
		{
			name: "cgroups of version 2, in a container",
			files: map[string]string{
				"proc/self/statm": "5 3 1 1 0 2 0\n", "proc/self/io": rchar, "proc/self/net/dev": netDev, "proc/self/fd/0": "", "proc/self/fd/1": "", "proc/self/fd/7": "",
				"proc/self/schedstat": "1 2 3\n", "proc/self/task/7/schedstat": "1 2 3\n",
				"proc/self/cgroup":          "0::/pod/app\n",
				"sys/fs/cgroup/pod/cpu.max": "200000 100000\n", "sys/fs/cgroup/pod/cpu.stat": "usage_usec 9\nnr_periods 5\nnr_throttled 2\nthrottled_usec 7\n",
				"sys/fs/cgroup/pod/app/cpu.max": "max 100000\n", "sys/fs/cgroup/pod/app/cpu.stat": "usage_usec 9\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n",
				"sys/fs/cgroup/pod/app/memory.current": "8192\n", "sys/fs/cgroup/pod/app/memory.max": "65536\n", "sys/fs/cgroup/pod/app/memory.stat": "anon 1\ninactive_file 4096\n",
				"sys/fs/cgroup/pod/app/cgroup.type": "domain\n", "sys/fs/cgroup/pod/app/cpu.pressure": pressure("3", "1"), "sys/fs/cgroup/pod/app/memory.pressure": pressure("4", "2"), "sys/fs/cgroup/pod/app/io.pressure": pressure("6", "5"),
				"proc/pressure/cpu": pressure("30", "0"), "proc/pressure/memory": pressure("40", "20"), "proc/pressure/io": pressure("60", "50"),
			},
			want: map[string]Reading{
				"RSS": {3 * int64(os.Getpagesize()), 0, true}, "read": {323934931, 632687, true}, "written": {323929600, 632675, true}, "disk read": {4096, 0, true}, "disk written": {323932160, 0, true},
				"network received": {1030, 13, true}, "network sent": {2040, 24, true}, "loopback": {500, 5, true},
				"cgroup memory": {4096, 0, true}, "cgroup memory limit": {65536, 0, true}, "CPU throttled": {7000, 2, true},
				"cgroup CPU pressure": {3000, 0, true}, "cgroup CPU pressure, full": {1000, 0, true}, "cgroup memory pressure": {4000, 0, true},
				"cgroup memory pressure, full": {2000, 0, true}, "cgroup I/O pressure": {6000, 0, true}, "cgroup I/O pressure, full": {5000, 0, true},
				"CPU pressure": {30000, 0, true}, "CPU pressure, full": {0, 0, true}, "memory pressure": {40000, 0, true}, "memory pressure, full": {20000, 0, true},
				"I/O pressure": {60000, 0, true}, "I/O pressure, full": {50000, 0, true}, "open files": {3, 0, true},
			},
			absent: []string{"power"},
		},
		{
			name: "cgroups of version 1; pressure of the CPU without full, as before Linux 5.13",
			files: map[string]string{
				"proc/self/cgroup": "9:name=systemd:/\n4:cpu,cpuacct:/docker/1\n3:memory:/docker/1\n",
				"sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us": "50000\n", "sys/fs/cgroup/cpu/docker/1/cpu.stat": "nr_periods 5\nnr_throttled 3\nthrottled_time 123456\n",
				"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu/cpu.stat": "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
				"sys/fs/cgroup/memory/docker/1/memory.usage_in_bytes": "8192\n", "sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes": "9223372036854771712\n",
				"sys/fs/cgroup/memory/docker/1/memory.stat": "inactive_file 1\ntotal_inactive_file 92\n",
				"proc/pressure/cpu":                         "some avg10=0.00 avg60=0.00 avg300=0.00 total=30\n", "proc/pressure/memory": pressure("40", "20"), "proc/pressure/io": pressure("60", "50"),
			},
			want: map[string]Reading{
				"cgroup memory": {8100, 0, true}, "CPU throttled": {123456, 3, true}, "CPU pressure": {30000, 0, true}, "memory pressure": {40000, 0, true},
				"memory pressure, full": {20000, 0, true}, "I/O pressure": {60000, 0, true}, "I/O pressure, full": {50000, 0, true},
			},
			absent: []string{"resident memory", "input and output", "network", "pressure of the cgroup", "power", "open files", "CPU wait"},
		},
		{
			name: "the root cgroup of version 2, beside version 1",
			files: map[string]string{
				"proc/self/cgroup":                   "1:cpu:/\n0::/\n",
				"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu/cpu.stat": "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
				"sys/fs/cgroup/unified/cpu.stat": "usage_usec 9\n", "sys/fs/cgroup/unified/cpu.pressure": pressure("3", "1"),
				"proc/self/net/dev": "nonsense\n:\nlo: 1 2 3\n",
			},
			want:   map[string]Reading{"CPU throttled": {0, 0, true}},
			absent: []string{"resident memory", "memory of the cgroup", "input and output", "pressure of the cgroup", "pressure of the system", "power", "open files", "CPU wait"},
		},
		{
			name: "energy of two packages, and of one by another way",
			files: map[string]string{
				"sys/class/powercap/intel-rapl/enabled": "1\n",
				"sys/class/powercap/intel-rapl:0/name":  "package-0\n", "sys/class/powercap/intel-rapl:0/energy_uj": "900\n", "sys/class/powercap/intel-rapl:0/max_energy_range_uj": "1000\n",
				"sys/class/powercap/intel-rapl:0:0/name": "dram\n", "sys/class/powercap/intel-rapl:0:0/energy_uj": "5\n",
				"sys/class/powercap/intel-rapl:1/name": "package-1\n", "sys/class/powercap/intel-rapl:1/energy_uj": "7\n", "sys/class/powercap/intel-rapl:1/max_energy_range_uj": "1000\n",
				"sys/class/powercap/intel-rapl-mmio:0/energy_uj": "7\n",
			},
			want:   map[string]Reading{"Power: CPU package 0": {0, 0, true}, "Power: DRAM of package-0": {0, 0, true}, "Power: CPU package 1": {0, 0, true}},
			absent: []string{"resident memory", "memory of the cgroup", "input and output", "network", "CPU throttling", "pressure of the cgroup", "pressure of the system", "open files", "CPU wait"},
		},
		{
			name:   "nothing",
			want:   map[string]Reading{},
			absent: []string{"resident memory", "memory of the cgroup", "input and output", "network", "CPU throttling", "pressure of the cgroup", "pressure of the system", "power", "open files", "CPU wait"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			values, absent := shown(t, tt.files)
			if !reflect.DeepEqual(values, tt.want) {
				t.Errorf("%v\nwant %v", values, tt.want)
			}
			if !reflect.DeepEqual(absent, tt.absent) {
				t.Errorf("%v\nwant %v", absent, tt.absent)
			}
		})
	}
}

// Energy is counted from the start, across the end of its range, in pWh.
func TestEnergy(t *testing.T) {
	root := t.TempDir()
	zone := filepath.Join(powerDir, "intel-rapl:0")
	write(t, root, zone+"/max_energy_range_uj", "1000\n")
	at := func(uj string) { write(t, root, zone+"/energy_uj", uj) }
	at("900\n")
	k := &kernel{root: root}
	defer k.close()
	g, err := k.openPower()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		reads string
		want  Reading
	}{
		{"900\n", Reading{0, 0, true}},
		{"936\n", Reading{10000, 0, true}},   // 36 µJ are 10 nWh
		{"8\n", Reading{30000, 0, true}},     // 64 up to the range, 8 more
		{"", Reading{}},                      // can't be read: no value, and nothing is lost
		{"17\n", Reading{32500, 0, true}},    // 9 more
		{"2000\n", Reading{583333, 0, true}}, // beyond its range
		{"0\n", Reading{583333, 0, true}},    // the energy in between is unknown
		{"9\n", Reading{585833, 0, true}},
	} {
		at(tt.reads)
		v := make([]Reading, 1)
		if g.read(v); v[0] != tt.want {
			t.Errorf("%q: %+v, want %+v", tt.reads, v[0], tt.want)
		}
	}
	if got := picowattHours(3600e6); got != 1e12 { // 1 Wh
		t.Errorf("1 Wh is %d pWh", got)
	}
}

// allocRuns is over how many runs allocations are averaged, because other allocations of the process, such as in
// finalizers, count, too.
const allocRuns = 100

// A long file is read whole, one that is too long not at all. Reading does not allocate.
func TestKernelFile(t *testing.T) {
	root := t.TempDir()
	line := "veth0: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
	write(t, root, "proc/self/net/dev", strings.Repeat(line, 2000))
	k := &kernel{root: root}
	defer k.close()
	g, err := k.openNetwork()
	if err != nil {
		t.Fatal(err)
	}
	v := make([]Reading, 3)
	if g.read(v); v[0] != (Reading{2000, 2000, true}) {
		t.Errorf("%+v, want 2000 bytes", v[0])
	}
	if n := testing.AllocsPerRun(allocRuns, func() { clear(v); g.read(v) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	write(t, root, "proc/self/net/dev", strings.Repeat(line, 4000))
	clear(v)
	if g.read(v); v[0].Known {
		t.Errorf("of a part of a file: %+v", v[0])
	}
}

// This machine's own counters follow the kernel's files, and reading all of them does not allocate.
func TestOwnSystem(t *testing.T) {
	const back = 64 << 20
	given := make([]byte, back)
	runtime.KeepAlive(given)
	debug.FreeOSMemory()
	var m Meter
	m.Open(10)
	defer m.Close()
	values := readings(&m)
	var goes runtime.MemStats
	runtime.ReadMemStats(&goes)
	if got, want := values["Go memory"].Value, int64(goes.Sys-goes.HeapReleased); goes.HeapReleased < back/2 || got < want-back/4 || got > want+back/4 {
		t.Errorf("Go memory is %d bytes, want %d; %d were given back", got, want, goes.HeapReleased)
	}
	for _, name := range []string{"process CPU", "RSS", "heap", "goroutines"} {
		if values[name].Value <= 0 {
			t.Errorf("%s: %+v", name, values[name])
		}
	}
	t.Log(slices.Sorted(maps.Keys(values)))
	t.Log(m.Describe())
	var v [maxGauge]Reading
	if n := testing.AllocsPerRun(allocRuns, func() {
		for _, g := range m.gauges {
			g.read(v[:len(g.specs)])
		}
	}); n != 0 {
		t.Errorf("a round makes %v allocations", n)
	}
}

// Reading a file of any content yields a number or nothing.
func FuzzKernel(f *testing.F) {
	for _, text := range []string{netDev, psi, rchar, "5 3 1\n", "max 1\n", "nr_throttled 1\nthrottled_time 2\n", "a:\n: 1\nlo:", "99999999999999999999 1"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var v [3]Reading
		sumInterfaces(text, v[:])
		if n, rest, ok := cutNumber(text); n < 0 || ok && len(rest) >= len(text) {
			t.Errorf("number %d, %d of %d bytes left", n, len(rest), len(text))
		}
		for _, key := range []string{"", "rchar", "nr_throttled"} {
			if n, ok := keyed(text, key); ok && n < 0 || !ok && n != 0 {
				t.Errorf("%s: %d", key, n)
			}
		}
		if c := stalled(text, "some"); !c.Known && c.Value != 0 {
			t.Errorf("%+v", c)
		}
	})
}

// What the recorder spends on other threads, as when it starts and for a snapshot, is in
// the counter of its CPU time.
func TestSpentElsewhere(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var m Meter
	m.Open(10)
	defer m.Close()
	m.Attend()
	before := readings(&m)[rawformat.CounterRecorderCPU]
	m.Spent(time.Hour)
	after := readings(&m)[rawformat.CounterRecorderCPU]
	if spent := after.Value - before.Value; !before.Known || spent < int64(time.Hour) || spent > int64(time.Hour+time.Minute) {
		t.Errorf("%v before an hour was spent, %v after", before, after)
	}
}
