//go:build linux && !gprof_portable && !go1.28 && !race

#include "go_asm.h"
#include "funcdata.h"
#include "textflag.h"

// func Emit(h Handle, kind rawformat.Kind, a, b unsafe.Pointer, now tick)
// Does what emitSlow does, in the common case. In all others it jumps to emitSlow, for
// which the arguments are in place.
// R8 is the recording, R9 the definition, R11 the shard, R12 its word, R13 the block,
// and DI where its next byte belongs.
TEXT ·Emit(SB), NOSPLIT|NOFRAME, $0-48
	MOVQ  ·Current(SB), R8
	MOVQ  h_Event+0(FP), R9
	TESTQ R8, R8
	JZ    other
	TESTQ R9, R9
	JZ    other
	MOVL  Recording_defined(R8), AX
	CMPL  const_definitionPlainSeq(R9), AX
	JHI   other
	CMPL  (Recording_clock+const_clockCounter)(R8), $0
	JEQ   uncounted

counted:
	MOVQ  h_Track+8(FP), CX
	XORL  R10, R10
	TESTQ CX, CX
	JNZ   track

own: // take the shard, as takeOwn does
	MOVQ  (Recording_route+const_routeM)(R8), AX
	TESTQ AX, AX
	JZ    other
	MOVQ  (TLS), BX
	MOVQ  (BX)(AX*1), AX
	MOVQ  (Recording_route+const_routeP)(R8), DX
	MOVQ  (AX)(DX*1), AX
	MOVL  (AX), R11
	CMPQ  R11, (Recording_own+8)(R8)
	JCC   other
	IMULQ $shard__size, R11
	ADDQ  Recording_own(R8), R11
	CMPL  shard_lock(R11), $0
	JNE   other
	MOVL  $1, shard_lock(R11)
	CMPL  shard_shut(R11), $0
	JNE   leave

	// Go on only if there is room and the context is the same.
	MOVQ  Recording_goroutines(R8), DX
	TESTQ DX, DX
	JZ    unknown
	MOVQ  (BX)(DX*1), DX

unknown:
	CMPQ DX, shard_goroutine(R11)
	JNE  leave
	CMPL R10, shard_track(R11)
	JNE  leave
	MOVQ shard_word(R11), R12
	CMPL R12, shard_soft(R11)
	JCC  leave

	MOVQ  now+40(FP), AX
	TESTQ AX, AX
	JNZ   known
	RDTSC
	SHLQ  $32, DX
	ORQ   DX, AX

known:
	MOVL    R12, DI
	ADDQ    shard_base(R11), DI
	MOVQ    DI, R13
	MOVBLZX kind+16(FP), CX
	SHLL    $8, CX
	ORQ     const_definitionHead(R9), CX
	MOVQ    CX, (DI)
	MOVBLZX const_definitionHeadLen(R9), CX
	ADDQ    CX, DI

	// The time since the last block, as an S, and the shape.
	MOVQ AX, CX
	SUBQ shard_last(R11), CX
	MOVQ AX, shard_last(R11)
	MOVQ CX, DX
	SARQ $63, DX
	ADDQ CX, CX
	XORQ DX, CX
	CMPQ CX, $0x4000
	JCC  late
	MOVL CX, DX
	ANDL $0x3f80, DX
	LEAQ 0x80(CX)(DX*1), CX
	ORQ  const_definitionBehindTime(R9), CX
	MOVQ CX, (DI)
	ADDQ $3, DI

fields:
	MOVBLZX const_definitionFields(R9), R10
	LEAQ    a+24(FP), BX
	XORL    SI, SI

field:
	CMPL    SI, R10
	JEQ     done
	MOVQ    (BX)(SI*8), CX
	MOVBLZX const_definitionFirst(R9)(SI*1), DX
	INCL    SI
	CMPL    DX, $const_heldUint
	JHI     rare
	MOVQ    (CX), CX
	JEQ     number
	MOVQ    CX, DX
	SARQ    $63, DX
	ADDQ    CX, CX
	XORQ    DX, CX

number: // write it as a U
	CMPQ CX, $0x80
	JCC  longer
	MOVB CX, (DI)
	INCQ DI
	JMP  field

longer:
	CMPQ CX, $0x4000
	JCC  long
	MOVL CX, DX
	ANDL $0x3f80, DX
	LEAL 0x80(CX)(DX*1), CX
	MOVW CX, (DI)
	ADDQ $2, DI
	JMP  field

done:
	MOVQ DI, CX
	SUBQ R13, CX
	LEAL -1(CX), DX
	MOVB DX, (R13)
	BTSQ $32, CX
	ADDQ CX, R12
	MOVQ R12, shard_word(R11)
	MOVQ shard_commit(R11), CX
	MOVQ R12, (CX)
	MOVL $0, shard_lock(R11)
	RET

long:
	MOVL CX, DX
	ORL  $0x80, DX
	MOVB DX, (DI)
	INCQ DI
	SHRQ $7, CX
	CMPQ CX, $0x80
	JCC  long
	MOVB CX, (DI)
	INCQ DI
	JMP  field

rare:
	CMPL    DX, $const_heldFloat
	JEQ     float
	MOVBLZX (CX), CX // holdsBool
	JMP     number

float:
	MOVQ (CX), CX
	MOVQ CX, (DI)
	ADDQ $8, DI
	JMP  field

late:
	MOVL CX, DX
	ORL  $0x80, DX
	MOVB DX, (DI)
	INCQ DI
	SHRQ $7, CX
	CMPQ CX, $0x80
	JCC  late
	MOVB CX, (DI)
	MOVQ const_definitionShape(R9), CX
	MOVB CX, 1(DI)
	ADDQ $2, DI
	JMP  fields

uncounted: // the counter can't be read, so the time must be given
	CMPQ now+40(FP), $0
	JNE  counted
	JMP  ·emitUncounted(SB)

track:
	CMPL const_trackUnwanted(CX), $0
	JNE  other
	CMPL const_trackSeq(CX), AX
	JHI  other
	MOVL const_trackID(CX), R10
	JMP  own

leave:
	MOVL $0, shard_lock(R11)

other:
	JMP ·emitSlow(SB)

// func emitUncounted(h Handle, kind rawformat.Kind, a, b unsafe.Pointer, now tick)
// The arguments stay where they are, for Emit.
TEXT ·emitUncounted(SB), 0, $8-48
	NO_LOCAL_POINTERS
	CALL ·uncounted(SB)
	MOVQ 0(SP), AX
	MOVQ AX, now+40(FP)
	RET  ·Emit(SB)
