//go:build linux && !gprof_portable && !go1.28

#include "go_asm.h"
#include "textflag.h"

// func takeOwn(r *Recording) (s *shard, counter, goroutine uint64)
TEXT ·takeOwn(SB), NOSPLIT|NOFRAME, $0-32
	MOVQ r+0(FP), CX
	MOVQ (Recording_route+const_routeM)(CX), AX
	TESTQ AX, AX
	JZ   none
	MOVQ (TLS), BX
	MOVQ (BX)(AX*1), AX
	MOVQ (Recording_route+const_routeP)(CX), DX
	MOVQ (AX)(DX*1), AX
	MOVLQZX (AX), AX
	CMPQ AX, (Recording_own+8)(CX)
	JCC  none
	IMULQ $shard__size, AX
	ADDQ Recording_own(CX), AX
	CMPL shard_lock(AX), $0
	JNE  none
	MOVL $1, shard_lock(AX)
	CMPL shard_shut(AX), $0
	JNE  shut
	MOVQ AX, s+8(FP)
	MOVQ Recording_goroutines(CX), DX
	TESTQ DX, DX
	JZ   unknown
	MOVQ (BX)(DX*1), DX

unknown:
	MOVQ DX, goroutine+24(FP)
	XORL AX, AX
	CMPL (Recording_clock+const_clockCounter)(CX), $0
	JEQ  unread
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX

unread:
	MOVQ AX, counter+16(FP)
	RET

shut:
	MOVL $0, shard_lock(AX)

none:
	MOVQ $0, s+8(FP)
	RET
