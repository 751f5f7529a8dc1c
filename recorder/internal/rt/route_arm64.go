//go:build linux && !gprof_portable && !go1.28

package rt

import "encoding/binary"

// procPinSize is the length of procPin's code.
const procPinSize = 4 * len(procPinCode)

// procPinCode is that code. Its loads and its store have offsets where it has 0: M in
// the first instruction, P in the fifth, and 0 in the sixth.
var procPinCode = [...]uint32{
	0xf9400381, // MOVD M(g), R1
	0xb9800022, // MOVW L(R1), R2
	0x91000442, // ADD $1, R2, R2
	0xb9000022, // MOVW R2, L(R1)
	0xf9400021, // MOVD P(R1), R1
	0xb9800020, // MOVW (R1), R0
	0xd65f03c0, // RET
}

// readRoute reads the offsets M and P, which count words of 8 bytes.
func readRoute(code []byte) (found Route, ok bool) {
	const offset = 0xfff << 10
	var at [len(procPinCode)]uintptr
	for i, want := range procPinCode {
		got := binary.LittleEndian.Uint32(code[4*i:])
		if i == 0 || i == 1 || i == 3 || i == 4 {
			at[i] = uintptr(got & offset >> 10)
			got &^= offset
		}
		if got != want {
			return Route{}, false
		}
	}
	return Route{8 * at[0], 8 * at[4]}, true
}
