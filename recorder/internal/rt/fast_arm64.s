//go:build linux && !gprof_portable && !go1.28

#include "go_asm.h"
#include "textflag.h"

// func readCounter() uint64
// Without the barrier the counter may be read before earlier instructions.
TEXT ·ReadCounter(SB), NOSPLIT|NOFRAME, $0-8
	ISB  $15
	MRS  CNTVCT_EL0, R0
	MOVD R0, ret+0(FP)
	RET

// func goroutineAt(offset uintptr) uint64
TEXT ·GoroutineAt(SB), NOSPLIT|NOFRAME, $0-16
	MOVD offset+0(FP), R0
	CBZ  R0, done
	MOVD (g)(R0), R0

done:
	MOVD R0, ret+8(FP)
	RET

// func processorBy(m, p uintptr) uint32
TEXT ·processorBy(SB), NOSPLIT|NOFRAME, $0-20
	MOVD m+0(FP), R0
	MOVD p+8(FP), R1
	MOVD (g)(R0), R0
	MOVD (R0)(R1), R0
	MOVWU (R0), R0
	MOVW R0, ret+16(FP)
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

// func walkFrames(pcs *uintptr, n, skip int) (depth int, sum uint64)
// A frame pointer points to the caller's, and above that lies the return address. Frame pointers rise, and stay within the
// stack, whose upper end is the second word of g. The caller's lies a word below its stack pointer.
TEXT ·WalkFrames(SB), NOSPLIT|NOFRAME, $0-40
	MOVD pcs+0(FP), R0
	MOVD n+8(FP), R1
	MOVD skip+16(FP), R2
	MOVD 8(g), R3
	SUB  $16, R3
	MOVD R29, R4
	MOVD RSP, R5
	SUB  $16, R5
	MOVD $0, R6
	MOVD $0, R8

loop:
	CMP  R5, R4
	BLS  done
	CMP  R3, R4
	BHI  done
	MOVD 8(R4), R7
	MOVD R4, R5
	MOVD (R4), R4
	CBZ  R2, take
	SUB  $1, R2
	B    loop

take:
	CMP  R1, R6
	BGE  done
	MOVD R7, (R0)(R6<<3)
	ROR  $57, R8
	ADD  R7, R8
	ADD  $1, R6
	B    loop

done:
	MOVD R6, depth+24(FP)
	MOVD R8, sum+32(FP)
	RET

// func OwnG() uintptr
TEXT ·OwnG(SB), NOSPLIT|NOFRAME, $0-8
	MOVD g, ret+0(FP)
	RET
