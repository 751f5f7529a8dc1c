package perf_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gprof/ingest/internal/naming"
	"gprof/ingest/perf"
)

// laidOut is an attr of a later version, whose samples hold what the bits say.
func laidOut(config, sample, read, flags, branches, regs uint64) wire {
	return wire(nil).u32(1, 88).u64(config, 499, sample, read, flags, 0, 0, 0, branches, regs)
}

// Features of which only the number matters here.
const (
	featureDirectory = 24
	featureAfter     = 30
)

// pipedWith is what perf writes to a pipe, of events with one id each.
func pipedWith(attrs map[uint64]wire, all ...wire) []byte {
	out := append(wire(nil), "PERFILE2"...).u64(16)
	for _, id := range []uint64{clockID, faultID} {
		if a := attrs[id]; a != nil {
			out = append(out, record(64, 0, append(a, wire(nil).u64(id)...))...)
		}
	}
	for _, r := range all {
		out = append(out, r...)
	}
	return out
}

// A group is told with the samples of its first event: of each event, and of each thread,
// it is how far the counter has come since.
func TestGroups(t *testing.T) {
	const sample = 1 | 1<<1 | 1<<2 | 1<<4 | 1<<6 // ip, tid, time, values, id
	const values = 1<<2 | 1<<3                   // with ids, of a group
	read := func(tid uint32, time, clock, faults uint64) wire {
		return record(9, 2, wire(nil).u64(0x1010).u32(shell, tid).u64(time, clockID, 2, clock, clockID, faults, faultID))
	}
	const inherited = 1 << 1
	attrs := map[uint64]wire{clockID: laidOut(0, sample, values, inherited, 0, 0), faultID: laidOut(2, sample, values, inherited, 0, 0)}
	unknown := record(9, 2, wire(nil).u64(0x1010).u32(shell, shell).u64(1400, clockID, 1, 5, 4711))
	src, err := open(pipedWith(attrs, read(shell, 1000, 500, 3), read(shell, 1100, 900, 3), read(helper, 1200, 70, 1), read(shell, 1300, 901, 10), unknown))
	got := text(t, src, err)
	has(t, got, "cpu 500", "cpu 400", "cpu 70", "cpu 1 ", "value 3 number 0", "value 1 number 0", "value 7 number 0", "of no event that the file tells of Count:1")
	if strings.Count(got, "weight 1") != 4 || strings.Count(got, "weight 0") != 3 {
		t.Errorf("want 4 samples and 3 times that there were faults:\n%s", got)
	}
}

// A sample whose stack was copied to be followed later has at least the address at which the
// user's code called the kernel. The ledger tells of the rest, and of other fields that have
// no place.
func TestDetails(t *testing.T) {
	const sample = 1 | 1<<1 | 1<<2 | 1<<5 | 1<<6 | 1<<10 | 1<<11 | 1<<12 | 1<<13 // ip, tid, time, chain, id, raw, branches, registers, stack
	const amd64 = 0xff0fff
	registers := func(ip uint64) wire {
		regs := make([]uint64, 20)
		regs[8] = ip
		return wire(nil).u64(2).u64(regs...)
	}
	body := wire(nil).u64(kernelText+0x42).u32(shell, shell).u64(1000, clockID, 2, markKernel, kernelText+0x42)
	body = append(body.u32(4, 0x11111111).u64(1, 5, 0x10, 0x20, 0), registers(0x1234)...) // raw; a branch behind its index
	body = body.u64(16, 0xaa, 0xbb, 16)
	attr := laidOut(0, sample, 0, 0, 1<<17, amd64)
	attr[0] = 2 // a tracepoint
	src, err := open(pipedWith(map[uint64]wire{clockID: attr}, record(9, 1, body)))
	got := text(t, src, err)
	has(t, got, fmt.Sprintf("Offset:%d ", 0x1234), "(--call-graph dwarf): the programs follow them (--symbols) Count:1", "branches that the processor noted (-b, --call-graph lbr) Count:1", "Where:of tracepoints Count:1")
	torn := append(body[:len(body)-8:len(body)-8], 1, 2, 3) // what is read of it is there
	src, err = open(pipedWith(map[uint64]wire{clockID: attr}, record(9, 1, torn)))
	has(t, text(t, src, err), fmt.Sprintf("Offset:%d ", 0x1234))
}

// Stacks of which perf copied the memory go on by frame pointers in code that a program made.
func TestFollow(t *testing.T) {
	const sample = 1 | 1<<1 | 1<<2 | 1<<5 | 1<<6 | 1<<12 | 1<<13 // ip, tid, time, chain, id, registers, stack
	const base, made = 0x7ffd0000, 0x500000
	taken := func(time, abi uint64, fp uint64, stack ...uint64) wire {
		body := wire(nil).u64(kernelText+0x42).u32(shell, shell).u64(time, clockID, 2, markKernel, kernelText+0x42)
		regs := make([]uint64, 20)
		regs[6], regs[7], regs[8] = fp, base, made+0x10
		body = body.u64(abi).u64(regs...).u64(uint64(8 * len(stack))).u64(stack...).u64(uint64(8 * len(stack)))
		return record(9, 1, body)
	}
	anon := wire(nil).u32(shell, shell).u64(made, 0x1000, 0).text("//anon")
	stacks := [][]wire{
		{taken(1000, 2, base, base+16, made+0x20, 0, 0)},
		{taken(1000, 2, base, base+64, made+0x20)},
		{taken(1000, 2, base, 1, made+0x20, 0, 0)},
		{taken(1000, 1, base, base+16, made+0x20)},
	}
	for i, want := range [][]string{
		{"Offset:16 ", "Offset:32 "},
		{"Offset:16 ", "Offset:32 ", "(truncated)", "deeper than the memory that perf copied (--call-graph dwarf,SIZE) Count:1"},
		{"Offset:16 ", "Offset:32 ", "neither .eh_frame nor frame pointers Count:1"},
		{"Offset:16 ", "32-bit program whose calls are not followed Count:1"},
	} {
		f, err := perf.Open(opener(pipedWith(map[uint64]wire{clockID: laidOut(0, sample, 0, 0, 0, 0xff0fff)}, append([]wire{record(1, 2, anon)}, stacks[i]...)...)))
		if err != nil {
			t.Fatal(err)
		}
		f.FollowBy(func(string) naming.CallFrames { return naming.CallFrames{} })
		has(t, text(t, sourceOf(f), nil), want...)
	}
}

// A file in which nothing happens says why, and so does one of old times.
func TestEmpty(t *testing.T) {
	nothing := records()[0]
	for _, c := range []struct {
		data []byte
		want error
		says string
	}{
		{file(nothing), perf.ErrEmpty, ""},
		{fileWith([]uint{featureAfter}, nothing), perf.ErrEmpty, ""},
		{fileWith([]uint{featureDirectory}, nothing), perf.ErrVersion, "perf script -i"},
		{[]byte("PERFFILE\x68\x00\x00\x00\x00\x00\x00\x00"), perf.ErrVersion, "perf script prints"},
	} {
		if !perf.Sniff(c.data) {
			t.Errorf("%q is not taken for a perf.data", c.data[:8])
		}
		if _, err := perf.Open(opener(c.data)); !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("error %v, want %v with %q", err, c.want, c.says)
		}
	}
}

// Build ids that perf did not note are asked for.
func TestLacksBuilds(t *testing.T) {
	const all = "perf record --buildid-all"
	with, err := perf.Open(opener(file(records()...)))
	if err != nil || !strings.Contains(with.Lacks(), all) {
		t.Errorf("of /bin/sh no build id is known, but that is not said: %v", err)
	}
	if piped, err := perf.Open(opener(piped(records()...))); err != nil || !strings.Contains(piped.Lacks(), "perf record --buildid-mmap") {
		t.Errorf("of a pipe it is not said how to get them: %v", err)
	}
	without, err := perf.Open(opener(file(mapped(shell, 0, 0x1000, 0x1000, 0, 0xab, "/bin/sh"), sampled(clockID, shell, shell, 1000, 500, 0x1010))))
	if err != nil || strings.Contains(without.Lacks(), all) {
		t.Errorf("all build ids are known, but they are said to lack: %v", err)
	}
}
