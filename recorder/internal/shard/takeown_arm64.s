//go:build linux && !gprof_portable && !go1.28

#include "go_asm.h"
#include "textflag.h"

// func takeOwn(r *Recording) (s *shard, counter, goroutine uint64)
// Loads with LDAR, to see everything stored before the lock was released.
TEXT ·takeOwn(SB), NOSPLIT|NOFRAME, $0-32
	MOVD r+0(FP), R0
	MOVD (Recording_route+const_routeM)(R0), R1
	CBZ  R1, none
	MOVD (g)(R1), R1
	MOVD (Recording_route+const_routeP)(R0), R2
	MOVD (R1)(R2), R1
	MOVWU (R1), R1
	MOVD (Recording_own+8)(R0), R2
	CMP  R2, R1
	BHS  none
	MOVD $shard__size, R2
	MOVD Recording_own(R0), R3
	MADD R2, R3, R1, R3
	ADD  $shard_lock, R3, R4
	LDARW (R4), R5
	CBNZW R5, none
	MOVD $1, R5
	MOVW R5, (R4)
	ADD  $shard_shut, R3, R6
	LDARW (R6), R5
	CBNZW R5, shut
	MOVD R3, s+8(FP)
	MOVD Recording_goroutines(R0), R1
	CBZ  R1, unknown
	MOVD (g)(R1), R1

unknown:
	MOVD R1, goroutine+24(FP)
	MOVD $0, R2
	MOVWU (Recording_clock+const_clockCounter)(R0), R1
	CBZW R1, unread
	ISB  $15
	MRS  CNTVCT_EL0, R2

unread:
	MOVD R2, counter+16(FP)
	RET

shut:
	STLRW ZR, (R4)

none:
	MOVD ZR, s+8(FP)
	RET
