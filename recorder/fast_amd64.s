//go:build linux && !gprof_portable

#include "textflag.h"

// func readCounter() uint64
TEXT ·readCounter(SB), NOSPLIT|NOFRAME, $0-8
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET

// func releaseWord(word *uint64, v uint64)
// A plain store is a release store: the processor shows stores in program order,
// and no compiler moves anything over a call of assembly.
TEXT ·releaseWord(SB), NOSPLIT|NOFRAME, $0-16
	MOVQ word+0(FP), AX
	MOVQ v+8(FP), BX
	MOVQ BX, (AX)
	RET

// func releaseFlag(flag *uint32)
TEXT ·releaseFlag(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ flag+0(FP), AX
	MOVL $0, (AX)
	RET

// func releaseWords(word *uint64, v uint64, flag *uint32)
TEXT ·releaseWords(SB), NOSPLIT|NOFRAME, $0-24
	MOVQ word+0(FP), AX
	MOVQ v+8(FP), BX
	MOVQ flag+16(FP), CX
	MOVQ BX, (AX)
	MOVL $0, (CX)
	RET
