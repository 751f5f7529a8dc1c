//go:build linux && !gprof_portable

#include "textflag.h"

// func readCounter() uint64
// Without the barrier the counter may be read before what stands before it.
TEXT ·readCounter(SB), NOSPLIT|NOFRAME, $0-8
	ISB  $15
	MRS  CNTVCT_EL0, R0
	MOVD R0, ret+0(FP)
	RET

// func releaseWord(word *uint64, v uint64)
TEXT ·releaseWord(SB), NOSPLIT|NOFRAME, $0-16
	MOVD word+0(FP), R0
	MOVD v+8(FP), R1
	STLR R1, (R0)
	RET

// func releaseFlag(flag *uint32)
TEXT ·releaseFlag(SB), NOSPLIT|NOFRAME, $0-8
	MOVD flag+0(FP), R0
	STLRW ZR, (R0)
	RET

// func releaseWords(word *uint64, v uint64, flag *uint32)
TEXT ·releaseWords(SB), NOSPLIT|NOFRAME, $0-24
	MOVD word+0(FP), R0
	MOVD v+8(FP), R1
	MOVD flag+16(FP), R2
	STLR R1, (R0)
	STLRW ZR, (R2)
	RET
