package main

import (
	"cmp"
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"slices"

	"gprof/fixtures/corpus"
)

// program is a file that processes run.
type program struct {
	path      string
	build     []byte
	code      elf.ProgHeader
	functions []elf.Symbol // by address
}

func openProgram(path string) (*program, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := &program{path: path}
	if p.functions, err = f.Symbols(); err != nil {
		return nil, err
	}
	p.functions = slices.DeleteFunc(p.functions, func(s elf.Symbol) bool { return elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 })
	slices.SortFunc(p.functions, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
	for _, part := range f.Progs {
		if part.Type == elf.PT_LOAD && part.Flags&elf.PF_X != 0 {
			p.code = part.ProgHeader
		}
	}
	note, err := f.Section(".note.gnu.build-id").Data()
	if err != nil || len(note) < 36 || len(p.functions) == 0 {
		return nil, fmt.Errorf("%s has no build id or no symbols: %w", path, err)
	}
	p.build = note[16:36]
	return p, nil
}

const (
	cpus      = 8
	processes = 4
	threads   = 16 // of each process
	drained   = 50 // samples of a CPU that perf reads at a time

	kernelText = 0xffffffff81000000
	markKernel = 1<<64 - 128
	markUser   = 1<<64 - 512
)

// machine is what was recorded.
type machine struct {
	*data
	program *program
	stacks  *corpus.Stacks
	random  *rand.Rand
	now     uint64
	chain   []uint64
	running [processes * threads]int32 // stacks of the threads
}

func newMachine(d *data, p *program, s *corpus.Stacks) *machine {
	return &machine{data: d, program: p, stacks: s, random: rand.New(rand.NewPCG(0, 0)), now: 1e12}
}

// run records the starts of the processes, and that many samples. perf empties the buffers of the CPUs in turn, so
// samples are in order of time on each CPU only.
func (m *machine) run(samples int) {
	m.body = m.body.u32(1<<32-1, 0).u64(kernelText, 0x2000000, kernelText).text("[kernel.kallsyms]_text")
	m.other(1, 1, 0, 0)
	for p := range uint32(processes) {
		m.start(1000 * (p + 1))
	}
	for round := 0; samples > 0; round++ {
		for cpu := range cpus {
			at := m.now + uint64(cpu)*1000
			who := uint32(0)
			for i := range min(drained, samples) {
				if i == 0 || m.random.IntN(4) == 0 { // another thread, which is on no other CPU
					who = uint32((cpu+round)%cpus + cpus*m.random.IntN(processes*threads/cpus))
				}
				m.sample(who, uint32(cpu), at)
				at += 1e6
			}
			samples -= min(drained, samples)
		}
		m.now += drained * 1e6
		m.write(68, 0) // the round ends
	}
}

// start records how a shell forks a process, which executes the program and begins its threads.
func (m *machine) start(pid uint32) {
	const shell, code = 100, 1 << 13
	p := m.program
	m.fork(pid, shell, pid)
	m.body = m.body.u32(pid, pid).text("go")
	m.other(3, code, pid, pid) // exec
	m.body = m.body.u32(pid, pid).u64(p.code.Vaddr, p.code.Memsz, p.code.Off)
	m.body = append(m.body.u32(uint32(len(p.build))), p.build...).u32(5, 2).text(p.path)
	m.other(10, 2|1<<14, pid, pid) // with the build id
	for tid := pid + 1; tid < pid+threads; tid++ {
		m.fork(pid, pid, tid)
	}
}

func (m *machine) fork(pid, parent, tid uint32) {
	m.body = m.body.u32(pid, parent, tid, parent).u64(m.now)
	m.other(7, 0, pid, tid)
}

// other ends a record that is no sample.
func (m *machine) other(kind uint32, misc uint16, pid, tid uint32) {
	m.body = m.body.u32(pid, tid).u64(m.now, 0)
	m.write(kind, misc)
	m.now += 1000
}

// sample records a sample of a thread, half of the time with the stack that it had, one of ten in the kernel.
func (m *machine) sample(who, cpu uint32, at uint64) {
	if sampled := m.stacks.Sampled(); m.running[who] == 0 || m.random.IntN(100) >= 46 {
		m.running[who] = sampled[m.random.IntN(len(sampled))]
	}
	m.chain = m.chain[:0]
	misc := uint16(2)
	if m.random.IntN(10) == 0 {
		misc = 1
		m.chain = append(m.chain, markKernel)
		call := int(m.running[who]) % 300 // of the system
		for depth := range 3 + call%7 {
			m.chain = append(m.chain, kernelText+uint64(call/(1+4*depth)*977+depth*0x10000))
		}
	}
	m.chain = append(m.chain, markUser)
	for node := m.running[who]; node != 0; {
		parent, function := m.stacks.At(node)
		m.chain = append(m.chain, m.address(parent, function))
		node = parent
	}
	pid := 1000 * (who/threads + 1)
	m.body = m.body.u64(m.chain[1]).u32(pid, pid+who%threads).u64(at).u32(cpu, 0).u64(1e6, uint64(len(m.chain))).u64(m.chain...)
	m.write(9, misc)
}

// address is a place in a function that is reached from a node: one of four.
func (m *machine) address(parent int32, function int32) uint64 {
	f := &m.program.functions[int(function)%len(m.program.functions)]
	return f.Value + f.Size*uint64(1+parent%4)/5
}
