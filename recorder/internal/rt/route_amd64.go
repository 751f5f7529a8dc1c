//go:build linux && !gprof_portable && !go1.28

package rt

import "encoding/binary"

// procPinSize is the length of procPin's code:
//
//	49 8b 4e M          MOVQ M(R14), CX
//	ff 81 L L L L       INCL L(CX)
//	48 8b 89 P P P P    MOVQ P(CX), CX
//	48 63 01            MOVLQSX (CX), AX
//	c3                  RET
const procPinSize = 21

// readRoute reads the offsets M and P.
func readRoute(code []byte) (found Route, ok bool) {
	known := string(code[:3]) == "\x49\x8b\x4e" && string(code[4:6]) == "\xff\x81" &&
		string(code[10:13]) == "\x48\x8b\x89" && string(code[17:]) == "\x48\x63\x01\xc3"
	return Route{uintptr(code[3]), uintptr(binary.LittleEndian.Uint32(code[13:]))}, known
}
