//go:build linux && !gprof_portable && !go1.28 && !race

#include "go_asm.h"
#include "funcdata.h"
#include "textflag.h"

// func Emit(h Handle, kind rawformat.Kind, a, b unsafe.Pointer, now tick)
// Does what emitSlow does, in the common case. In all others it jumps to emitSlow, for
// which the arguments are in place.
// R0 is the recording, R1 the definition, R2 the track, R3 the shard, R4 its word, R6
// the block, and R5 where its next byte belongs.
TEXT ·Emit(SB), NOSPLIT|NOFRAME, $0-48
	MOVD  ·Current(SB), R0
	MOVD  h_Event+0(FP), R1
	CBZ   R0, other
	CBZ   R1, other
	MOVWU Recording_defined(R0), R8
	MOVWU const_definitionPlainSeq(R1), R9
	CMPW  R8, R9
	BHI   other
	MOVWU (Recording_clock+const_clockCounter)(R0), R9
	CBZW  R9, uncounted

counted:
	MOVD h_Track+8(FP), R9
	MOVD $0, R2
	CBNZ R9, track

own: // take the shard, as takeOwn does
	MOVD  (Recording_route+const_routeM)(R0), R8
	CBZ   R8, other
	MOVD  (g)(R8), R8
	MOVD  (Recording_route+const_routeP)(R0), R9
	MOVD  (R8)(R9), R8
	MOVWU (R8), R8
	MOVD  (Recording_own+8)(R0), R9
	CMP   R9, R8
	BHS   other
	MOVD  $shard__size, R9
	MOVD  Recording_own(R0), R3
	MADD  R9, R3, R8, R3
	ADD   $shard_lock, R3, R7
	LDARW (R7), R8
	CBNZW R8, other
	MOVD  $1, R8
	MOVW  R8, (R7)
	ADD   $shard_shut, R3, R9
	LDARW (R9), R8
	CBNZW R8, leave

	// Go on only if there is room and the context is the same.
	MOVD Recording_goroutines(R0), R8
	CBZ  R8, unknown
	MOVD (g)(R8), R8

unknown:
	MOVD  shard_goroutine(R3), R9
	CMP   R8, R9
	BNE   leave
	MOVWU shard_track(R3), R9
	CMPW  R2, R9
	BNE   leave
	MOVD  shard_word(R3), R4
	MOVWU R4, R5
	MOVWU shard_soft(R3), R9
	CMPW  R9, R5
	BHS   leave

	MOVD now+40(FP), R10
	CBNZ R10, known
	ISB  $15
	MRS  CNTVCT_EL0, R10

known:
	MOVD  shard_base(R3), R6
	ADD   R5, R6
	MOVBU kind+16(FP), R8
	MOVD  const_definitionHead(R1), R9
	ORR   R8<<8, R9
	MOVD  R9, (R6)
	MOVBU const_definitionHeadLen(R1), R8
	ADD   R8, R6, R5

	// The time since the last block, as an S, and the shape.
	MOVD shard_last(R3), R8
	SUB  R8, R10, R8
	MOVD R10, shard_last(R3)
	ASR  $63, R8, R9
	EOR  R8<<1, R9, R8
	MOVD const_definitionShape(R1), R9

time:
	CMP  $0x80, R8
	BLO  timed
	ORR  $0x80, R8, R10
	MOVB R10, (R5)
	ADD  $1, R5
	LSR  $7, R8
	B    time

timed:
	MOVB  R8, (R5)
	MOVB  R9, 1(R5)
	ADD   $2, R5
	MOVBU const_definitionFields(R1), R11
	MOVD  $a+24(FP), R12
	ADD   $const_definitionFirst, R1, R13

field:
	CBZ     R11, done
	SUB     $1, R11
	MOVD.P  8(R12), R8
	MOVBU.P 1(R13), R9
	CMP     $const_heldUint, R9
	BHI     rare
	MOVD    (R8), R8
	BEQ     number
	ASR     $63, R8, R9
	EOR     R8<<1, R9, R8

number: // write it as a U
	CMP  $0x80, R8
	BLO  last
	ORR  $0x80, R8, R10
	MOVB R10, (R5)
	ADD  $1, R5
	LSR  $7, R8
	B    number

last:
	MOVB R8, (R5)
	ADD  $1, R5
	B    field

rare:
	CMP   $const_heldFloat, R9
	BEQ   float
	MOVBU (R8), R8 // holdsBool
	B     number

float:
	MOVD (R8), R8
	MOVD R8, (R5)
	ADD  $8, R5
	B    field

done:
	SUB   R6, R5, R8
	SUB   $1, R8, R9
	MOVB  R9, (R6)
	ADD   R8, R4
	MOVD  $(1<<32), R9
	ADD   R9, R4
	MOVD  R4, shard_word(R3)
	MOVD  shard_commit(R3), R9
	STLR  R4, (R9)
	STLRW ZR, (R7)
	RET

uncounted: // the counter can't be read, so the time must be given
	MOVD now+40(FP), R9
	CBNZ R9, counted
	B    ·emitUncounted(SB)

track:
	MOVWU const_trackUnwanted(R9), R10
	CBNZW R10, other
	MOVWU const_trackSeq(R9), R10
	CMPW  R8, R10
	BHI   other
	MOVWU const_trackID(R9), R2
	B     own

leave:
	STLRW ZR, (R7)

other:
	B ·emitSlow(SB)

// func emitUncounted(h Handle, kind rawformat.Kind, a, b unsafe.Pointer, now tick)
// The arguments stay where they are, for Emit.
TEXT ·emitUncounted(SB), 0, $16-48
	NO_LOCAL_POINTERS
	CALL ·uncounted(SB)
	MOVD 8(RSP), R0
	MOVD R0, now+40(FP)
	RET  ·Emit(SB)
