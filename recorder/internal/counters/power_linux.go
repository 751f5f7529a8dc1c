package counters

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// powerDir has a directory for each part of the machine whose energy is counted:
// intel-rapl:0 is a package, intel-rapl:0:1 a part of it. AMD's have the same names.
const powerDir = "sys/class/powercap"

// openPower reads the energy that parts of the machine have used.
func (k *kernel) openPower() (*gauge, error) {
	zones, err := os.ReadDir(filepath.Join(k.root, powerDir))
	if err != nil {
		return nil, err
	}
	g := &gauge{}
	var parts []*energy
	for _, zone := range zones { // sorted
		if !strings.HasPrefix(zone.Name(), "intel-rapl:") || len(parts) == maxGauge {
			continue
		}
		e, err := k.openEnergy(filepath.Join(powerDir, zone.Name()))
		if err != nil {
			return nil, err
		}
		parts = append(parts, e)
		g.specs = append(g.specs, Spec{Name: k.powerName(zone.Name()), Category: "power", Description: "energy that this part of the machine has used since the start", Unit: rawformat.FormatPicowatt, Mode: rawformat.CounterTotal})
	}
	if len(parts) == 0 {
		return nil, errors.New("no intel-rapl in " + filepath.Join(k.root, powerDir))
	}
	g.read = func(v []Reading) bool {
		for i, e := range parts {
			v[i] = e.read()
		}
		return true
	}
	return g, nil
}

// powerName is the name of a zone, with that of the package if it is a part of one.
func (k *kernel) powerName(zone string) string {
	name := func(zone string) string {
		b, _ := rt.ReadKernel(filepath.Join(k.root, powerDir, zone, "name")) // without it the zone's own name is used
		return cmp.Or(strings.TrimSpace(string(b)), zone)
	}
	own := name(zone)
	for _, n := range powerNames {
		if number, ok := strings.CutPrefix(own, n.part); ok {
			own = n.name + number
			break
		}
	}
	if i := strings.LastIndexByte(zone, ':'); i > len("intel-rapl") { // a part
		own += " of " + name(zone[:i])
	}
	return "Power: " + own
}

// powerNames are the names of parts that Firefox Profiler uses.
var powerNames = []struct{ part, name string }{
	{"package-", "CPU package "}, {"core", "CPU cores"}, {"uncore", "iGPU"}, {"dram", "DRAM"}, {"psys", "system"},
}

// energy is the counter of a part of the machine, in µJ. It wraps around after its
// largest value.
type energy struct {
	file       kernelFile
	largest    int64
	last, used int64
}

func (k *kernel) openEnergy(dir string) (*energy, error) {
	f, err := k.keep(dir, "energy_uj")
	if err != nil {
		return nil, err
	}
	e := &energy{file: f, largest: readNumber(filepath.Join(k.root, dir, "max_energy_range_uj"))}
	e.last, _ = f.number()
	return e, nil
}

// read is the energy used since the counter was opened. If the counter fell, and its
// range is unknown or too small, the energy used in between is left out.
func (e *energy) read() Reading {
	now, ok := e.file.number()
	if !ok {
		return Reading{}
	}
	switch {
	case now >= e.last:
		e.used += now - e.last
	case e.largest >= e.last:
		e.used += e.largest - e.last + now
	}
	e.last = now
	return Reading{Value: picowattHours(e.used), Known: true}
}

// picowattHours is the energy of so many µJ: each is 2,500/9 pWh.
func picowattHours(microjoules int64) int64 {
	return microjoules/9*2500 + microjoules%9*2500/9
}
