package callframe_test

import (
	"encoding/binary"
	"fmt"

	"gprof/rawformat/callframe"
)

// The calls of a thread are followed by frame pointers where a program has no
// table: the word at the frame pointer is the caller's frame pointer, and behind
// it is the return address.
func ExampleWalker() {
	const rbp, rsp, rip = 6, 7, 8 // as perf numbers the registers of amd64
	const top = 0x7ffd_0000_0000  // of the copied stack
	asked, values := uint64(callframe.WantAMD64), map[int]uint64{rbp: top, rsp: top, rip: 0x401010}
	var sample []byte
	for bit := range 64 {
		if asked>>bit&1 == 1 {
			sample = binary.LittleEndian.AppendUint64(sample, values[bit])
		}
	}
	registers, ok := callframe.FromPerf(asked, sample)
	if !ok {
		fmt.Println("registers are missing")
	}
	var words []byte
	for _, word := range []uint64{0, 0x402020} {
		words = binary.LittleEndian.AppendUint64(words, word)
	}
	w := callframe.Walker{Find: func(address uint64) callframe.Place {
		code := address >= 0x400000 && address < 0x500000
		return callframe.Place{Known: code, Code: code, Address: address}
	}}
	frames, end := w.Walk(registers, callframe.Stack{Base: top, Bytes: words}, nil)
	for _, f := range frames {
		fmt.Printf("%#x %v\n", f.PC, f.Exact)
	}
	fmt.Println(end == callframe.Complete)
	// Output:
	// 0x401010 true
	// 0x402020 false
	// true
}
