//go:build (amd64 || arm64) && !gprof_portable && !go1.28

package sampler

import (
	"maps"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"gprof/rawformat"
)

// The assembly has its own copies of numbers that Go code and package rawformat define.
func TestAssemblyKnowsLayouts(t *testing.T) {
	source, err := os.ReadFile("handler_linux_" + runtime.GOARCH + ".s")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]uintptr{
		"SI_CODE": unsafe.Offsetof(siginfo{}.code), "SI_OVERRUN": unsafe.Offsetof(siginfo{}.overrun), "SI_VALUE": unsafe.Offsetof(siginfo{}.value),
		"RING_HEAD": rawformat.OffStacksHead, "RING_LOST": rawformat.OffStacksLost, "RING_CPU": rawformat.OffStacksCPU, "RING_TAIL": rawformat.OffStacksTail,
		"LAYOUT_DEPTH": unsafe.Offsetof(layout{}.depth), "LAYOUT_CPU": unsafe.Offsetof(layout{}.cpu), "LAYOUT_ROOM": unsafe.Offsetof(layout{}.room),
		"RING_DATA": rawformat.StacksHead, "RING_MASK": rawformat.StacksWords - 1,
		"SYS_clock_gettime": unix.SYS_CLOCK_GETTIME,
	}
	maps.Copy(want, handlerNumbers)
	for _, m := range regexp.MustCompile(`#define (\w+) (\d+)\s`).FindAllSubmatch(source, -1) {
		name := string(m[1])
		value, err := strconv.ParseUint(string(m[2]), 10, 64)
		if w, ok := want[name]; ok && (err != nil || uintptr(value) != w) {
			t.Errorf("%s is %d, want %d", name, value, w)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("not in the assembly: %v", want)
	}
	for name, is := range map[string][2]uintptr{
		"slot.generation":    {unsafe.Offsetof(sampleSlot{}.generation), 8},
		"slot.busy":          {unsafe.Offsetof(sampleSlot{}.busy), 12},
		"size of a slot":     {unsafe.Sizeof(sampleSlot{}), 64},
		"layout.labels":      {unsafe.Offsetof(layout{}.labels), 8},
		"layout.m":           {unsafe.Offsetof(layout{}.m), 16},
		"layout.curg":        {unsafe.Offsetof(layout{}.curg), 24},
		"layout.sched":       {unsafe.Offsetof(layout{}.sched), 32},
		"layout.text":        {unsafe.Offsetof(layout{}.text), 40},
		"layout.etext":       {unsafe.Offsetof(layout{}.etext), 48},
		"layout.slots":       {unsafe.Offsetof(layout{}.slots), 56},
		"layout.counter":     {unsafe.Offsetof(layout{}.counter), 64},
		"labels of a slot":   {unsafe.Offsetof(labelSlot{}.labels), 16},
		"label's number":     {unsafe.Offsetof(placedLabel{}.label), 4},
		"size of labels":     {unsafe.Sizeof(labelSlot{}), 128},
		"number of slots":    {maxSlots, 1024},
		"magic":              {sampleMagic, 0x6770},
		"labels kept":        {maxLabels, 14},
		"label slots":        {1 << labelBits, 2048},
		"label probes":       {labelProbes, 4},
		"words beside calls": {max(rawformat.StackFixed+1+maxLabels+1+3, rawformat.StackExtra), rawformat.StackExtra},
		"the cut":            {rawformat.StackCut, 0x9 << 60},
		"the CPU time":       {rawformat.StackCPU, 0x88 << 56},
	} {
		if is[0] != is[1] {
			t.Errorf("%s is %d, the assembly has %d", name, is[0], is[1])
		}
	}
}
