//go:build linux && !gprof_portable && !go1.28

#include "go_asm.h"
#include "textflag.h"

// func readCounter() uint64
TEXT ·ReadCounter(SB), NOSPLIT|NOFRAME, $0-8
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET

// func powerFeatures() uint32
TEXT ·powerFeatures(SB), NOSPLIT|NOFRAME, $0-4
	MOVL $0x80000007, AX
	XORL CX, CX
	CPUID
	MOVL DX, ret+0(FP)
	RET

// func goroutineAt(offset uintptr) uint64
TEXT ·GoroutineAt(SB), NOSPLIT|NOFRAME, $0-16
	MOVQ  offset+0(FP), CX
	XORL  AX, AX
	TESTQ CX, CX
	JZ    done
	MOVQ  (TLS), AX
	MOVQ  (AX)(CX*1), AX

done:
	MOVQ AX, ret+8(FP)
	RET

// func processorBy(m, p uintptr) uint32
TEXT ·processorBy(SB), NOSPLIT|NOFRAME, $0-20
	MOVQ m+0(FP), AX
	MOVQ p+8(FP), DX
	MOVQ (TLS), BX
	MOVQ (BX)(AX*1), AX
	MOVQ (AX)(DX*1), AX
	MOVL (AX), AX
	MOVL AX, ret+16(FP)
	RET

// func releaseWord(word *uint64, v uint64)
// A plain store is a release store: the processor makes stores visible in program order, and the compiler moves nothing
// across a call of assembly.
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

// func walkFrames(pcs *uintptr, n, skip int) (depth int, sum uint64)
// A frame pointer points to the caller's, and above that lies the return address. Frame pointers rise, and stay within the
// stack, whose upper end is the second word of g.
TEXT ·WalkFrames(SB), NOSPLIT|NOFRAME, $0-40
	MOVQ pcs+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ skip+16(FP), SI
	MOVQ (TLS), R8
	MOVQ 8(R8), R9
	SUBQ $16, R9
	MOVQ BP, BX
	MOVQ SP, DX
	XORL AX, AX
	XORL R11, R11

skip:
	TESTQ SI, SI
	JLE   room
	CMPQ  BX, DX
	JLS   done
	CMPQ  BX, R9
	JHI   done
	MOVQ  BX, DX
	MOVQ  (BX), BX
	DECQ  SI
	JMP   skip

room:
	CMPQ AX, CX
	JGE  done

walk:
	CMPQ BX, DX
	JLS  done
	CMPQ BX, R9
	JHI  done
	MOVQ 8(BX), R10
	MOVQ BX, DX
	MOVQ (BX), BX
	MOVQ R10, (DI)(AX*8)
	ROLQ $7, R11
	ADDQ R10, R11
	INCQ AX
	CMPQ AX, CX
	JLT  walk

done:
	MOVQ AX, depth+24(FP)
	MOVQ R11, sum+32(FP)
	RET

// func OwnG() uintptr
TEXT ·OwnG(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ (TLS), AX
	MOVQ AX, ret+0(FP)
	RET
