//go:build !gprof_portable && !go1.28

#include "textflag.h"

// Offsets that the kernel and rawformat's stack rings define. The Go code has them, too; a test compares both.
#define SI_CODE 8
#define SI_OVERRUN 20
#define SI_VALUE 24
#define UC_STACK 16
#define UC_G 408	// R28
#define UC_FP 416	// R29
#define UC_LR 424	// R30
#define UC_SP 432
#define UC_PC 440
#define RING_HEAD 64
#define RING_LOST 72
#define RING_CPU 80
#define RING_TAIL 128
#define RING_DATA 4096
#define RING_MASK 2047
#define LAYOUT_DEPTH 72
#define LAYOUT_ROOM 80
#define LAYOUT_CPU 88
#define LAYOUT_TLS 96
#define LAYOUT_VDSO 104
#define LAYOUT_EVDSO 112
#define LAYOUT_SWITCHED 120
#define BEYOND 16384	// how many further frames are walked after those that are written
#define SYS_clock_gettime 113

// LABELS appends the goroutine's labels that were begun at or below an address, the innermost first. It
// clobbers R0, R1 and R8.
#define LABELS(address, bits, again, end) \
again: \
	CBZ	R15, end; \
	ADD	R15<<3, R16, R1; \
	MOVWU	8(R1), R0; \
	SUB	R0, R11, R0; \
	CMP	address, R0; \
	BHI	end; \
	MOVWU	12(R1), R0; \
	MOVD	$bits, R1; \
	ORR	R1, R0; \
	PUT(R0); \
	SUB	$1, R15; \
	B	again; \
end:

// PUT appends the word in a register to the record. It clobbers R8.
#define PUT(reg) \
	AND	$RING_MASK, R5, R8; \
	MOVD	reg, (R6)(R8<<3); \
	ADD	$1, R5

// CODE jumps if the address in a register is not in the program's code. It clobbers R8.
#define CODE(reg, elsewhere) \
	MOVD	40(R7), R8; \
	CMP	R8, reg; \
	BLO	elsewhere; \
	MOVD	48(R7), R8; \
	CMP	R8, reg; \
	BHS	elsewhere

// BUSY changes the count of users of the slot in R3. It clobbers R0, R1 and R8.
#define BUSY(change, again) \
	ADD	$12, R3, R8; \
again: \
	LDAXRW	(R8), R0; \
	change	$1, R0; \
	STLXRW	R0, (R8), R1; \
	CBNZW	R1, again

// sampleHandler is the signal handler. It runs on the thread whose timer has expired, at any instruction, with
// all signals blocked but SIGBUS. It touches only its thread's ring, the g's that its thread runs, and their stacks.
//
//  1. If the signal is not from one of our timers, pass it to the handler that had the signal before.
//  2. Take the thread's slot: while it is busy its ring stays mapped.
//  3. Find the g, as the runtime's own handlers do: R28 is it in Go code; with cgo
//     it is among the thread's variables; in the vDSO, without cgo, the runtime has
//     left it at the bottom of the signal stack.
//  4. Write time, goroutine, the interrupted pc, and the link register: there a
//     function without a frame returns to, and the CPU time since the thread's
//     last record.
//  5. Walk the frame pointers, upwards only and within the stack of the g, then
//     from the scheduler's stack over to the goroutine's. A frame pointer lies a
//     word below its function's stack pointer, and points to its caller's; a word
//     above, where the stack pointer points, lies where the function returns to.
//  6. If there are more frames than a record may have, walk on to the root, and
//     write only the outermost frames.
//  7. Write the size, then the head, which makes the record valid.
//
// It preserves the registers that a C function must preserve, because a handler that was installed later may call
// it as a C function. The kernel restores all others.
//
//	R3 slot   R4 ring   R5 head of the record being written   R6 data   R7 layout
//	R9 g whose stack is walked   R10 goroutine   R11 stack.hi   R12 frame pointer
//	R13 what it must not be below   R14 frames left   R15 labels left
//	R16 the goroutine's labels   R17 stack pointer, later return addresses
//	R0, R1, R2, R8 any
TEXT ·sampleHandler(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	MOVW	SI_CODE(R1), R3
	ADDW	$2, R3	// SI_TIMER is -2
	CBNZW	R3, chain
	MOVD	SI_VALUE(R1), R6
	LSR	$48, R6, R3
	MOVD	$0x6770, R4	// sampleMagic
	CMP	R4, R3
	BNE	chain
	AND	$0xffff, R6, R3
	CMP	$1024, R3	// maxSlots
	BHS	chain
	MOVWU	SI_OVERRUN(R1), R17	// later on the stack
	MOVD	$·sampleSlots(SB), R4
	ADD	R3<<6, R4, R3
	LSR	$16, R6
	BUSY(ADDW, enter)
	DMB	$11	// the inner shareable domain: who takes the ring away sees one of both
	LDAR	(R3), R4	// ring
	CBZ	R4, idle
	MOVWU	8(R3), R0	// generation
	CMPW	R0, R6
	BNE	idle
	MOVD	RING_HEAD(R4), R5
	ADD	$RING_TAIL, R4, R0
	LDAR	(R0), R0
	SUB	R0, R5, R0
	MOVD	$·sampleLayout(SB), R7
	MOVD	LAYOUT_ROOM(R7), R1
	CMP	R1, R0
	BHI	full
	ADD	$RING_DATA, R4, R6
	AND	$RING_MASK, R5, R0
	MOVD	ZR, (R6)(R0<<3)	// the old record here is no longer valid
	ADD	$1, R5	// the size comes last
	SUB	$16, RSP
	MOVD	R17, 0(RSP)

	MOVD	64(R7), R0	// counter
	CBZ	R0, clock
	ISB	$15
	MRS	CNTVCT_EL0, R0
	B	timed
clock:
	SUB	$16, RSP
	MOVD	$1, R0	// CLOCK_MONOTONIC
	MOVD	RSP, R1
	MOVD	$SYS_clock_gettime, R8
	SVC
	MOVD	0(RSP), R0
	MOVD	8(RSP), R1
	ADD	$16, RSP
	MOVD	$1000000000, R8
	MADD	R8, R1, R0, R0
timed:
	PUT(R0)

	MOVD	ZR, R9
	MOVD	LAYOUT_CPU(R7), R0
	CBZ	R0, used
	SUB	$16, RSP
	MOVD	$3, R0	// CLOCK_THREAD_CPUTIME_ID
	MOVD	RSP, R1
	MOVD	$SYS_clock_gettime, R8
	SVC
	MOVD	0(RSP), R1
	MOVD	8(RSP), R10
	ADD	$16, RSP
	CBNZ	R0, used
	MOVD	$1000000000, R8
	MADD	R8, R10, R1, R1
	MOVD	RING_CPU(R4), R9
	MOVD	R1, RING_CPU(R4)
	SUBS	R9, R1, R9
	CSEL	LT, ZR, R9, R9
	ADD	$1, R9	// 0 is not known
used:	// its place is behind the top
	MOVD	$0x8800000000000000, R0	// rawformat.StackCPU
	ORR	R0, R9
	ADD	$4, R5, R8
	AND	$RING_MASK, R8
	MOVD	R9, (R6)(R8<<3)

	MOVD	LAYOUT_TLS(R7), R0
	CBZ	R0, register
	MRS	TPIDR_EL0, R1
	MOVD	(R1)(R0), R9
	B	found
register:
	MOVD	UC_G(R2), R9
	MOVD	UC_PC(R2), R0
	MOVD	LAYOUT_VDSO(R7), R1
	CMP	R1, R0
	BLO	found
	MOVD	LAYOUT_EVDSO(R7), R1
	CMP	R1, R0
	BHS	found
	MOVD	UC_STACK(R2), R9
	CBZ	R9, found
	MOVD	(R9), R9
found:
	MOVD	R9, R10
	MOVD	ZR, R11
	CBZ	R9, foreign
	MOVD	8(R9), R11	// stack.hi
	MOVD	16(R7), R0	// g.m
	CBZ	R0, ids
	MOVD	(R9)(R0), R1
	CBZ	R1, ids
	MOVD	24(R7), R0	// m.curg
	MOVD	(R1)(R0), R0
	CBZ	R0, ids
	MOVD	R0, R10
ids:
	MOVD	ZR, R0
	MOVD	0(R7), R1	// g.goid
	CBZ	R1, noid
	MOVD	(R10)(R1), R0
noid:
	PUT(R0)
	MOVD	R0, R14	// goid
	MOVD	ZR, R0
	MOVD	8(R7), R1	// g.labels
	CBZ	R1, nolabels
	MOVD	(R10)(R1), R0
nolabels:
	PUT(R0)
	B	where
foreign:	// a thread that Go does not know
	MOVD	ZR, R14
	PUT(R14)
	PUT(R14)
where:
	MOVD	UC_PC(R2), R0
	PUT(R0)
	MOVD	UC_SP(R2), R17
	MOVD	UC_FP(R2), R12
	MOVD	UC_LR(R2), R2
	CBZ	R11, stackless
	MOVD	0(R9), R13	// stack.lo
	CMP	R13, R17
	BLO	elsewhere
	SUB	$8, R11, R0
	CMP	R0, R17
	BLS	top
elsewhere:	// such as the clock's code, which the runtime has run on its m's g0
	MOVD	16(R7), R0	// g.m
	CBZ	R0, lost
	MOVD	(R9)(R0), R1
	CBZ	R1, lost
	MOVD	0(R1), R1	// m.g0
	CBZ	R1, lost
	MOVD	0(R1), R0
	CMP	R0, R17
	BLO	lost
	MOVD	8(R1), R0
	SUB	$8, R0, R8
	CMP	R8, R17
	BHI	lost
	MOVD	R1, R9
	MOVD	R0, R11
top:
	SUB	$8, R17, R13
	PUT(R2)
	B	seek
lost:
	MOVD	ZR, R17
	PUT(ZR)

seek:	// The goroutine's labels.
	ADD	$1, R5	// the CPU time
	MOVD	ZR, R15
	CBZ	R14, labelled
	MOVD	56(R7), R2	// slots
	CBZ	R2, labelled
	MOVD	$0x9e3779b97f4a7c15, R0	// labelHash
	MUL	R14, R0
	LSR	$(64-11), R0	// labelBits
	MOVD	$4, R8	// labelProbes
probe:
	ADD	R0<<7, R2, R16
	MOVD	0(R16), R1
	CMP	R14, R1
	BEQ	met
	ADD	$1, R0
	AND	$2047, R0
	SUB	$1, R8
	CBNZ	R8, probe
	B	labelled
met:
	MOVD	8(R16), R15
	CMP	$14, R15	// maxLabels
	BLS	deepest
	MOVD	$14, R15
deepest:
	CMP	R9, R10
	BNE	labelled
	LABELS(R17, 0xa000000000000000, label0, labels0)	// of the top, or of its caller if it has no frame
labelled:
	MOVD	LAYOUT_DEPTH(R7), R14

	// A function that is about to make its frame, or has undone it, has where it
	// returns to on the stack, and its caller's frame pointer still, or again. Go's
	// frame pointers are odd multiples of a word, those of C even ones. Functions that
	// signals of the runtime have begun look the same: so the address is moved by
	// half an instruction for whoever knows functions.
	CBZ	R17, walk
	SUB	$8, R17, R0
	CMP	R0, R12
	BLS	walk
	AND	$15, R12, R0
	CMP	$8, R0
	BNE	walk
	CMP	R11, R12
	BHS	walk
	MOVD	(R17), R17
	CODE(R17, walk)
	CMP	R9, R10
	BNE	unfinished
	ADD	$8, R12, R2
	LABELS(R2, 0x8000000000000000, label1, labels1)
unfinished:
	SUB	$2, R17
	PUT(R17)
	SUB	$1, R14
walk:
	TST	$7, R12
	BNE	leave
	CMP	R13, R12
	BLO	leave
	SUB	$16, R11, R0
	CMP	R0, R12
	BHI	leave
	ADD	$16, R12, R13
	MOVD	8(R12), R17
	MOVD	0(R12), R12
	CMP	R9, R10
	BNE	frame
	ADD	$8, R12, R2
	LABELS(R2, 0x8000000000000000, label2, labels2)
frame:
	CODE(R17, leave)
	PUT(R17)
	SUB	$1, R14
	CBNZ	R14, walk
	CMP	R9, R10
	BEQ	beyond
	B	cut
leave:	// if g0 works for a goroutine, that one's stack is next
	CMP	R9, R10
	BEQ	done
	MOVD	R10, R9
	MOVD	0(R9), R13
	MOVD	8(R9), R11
	CMP	R13, R12
	BLO	saved
	CMP	R11, R12
	BLO	walk	// systemstack has kept the frame pointer
saved:	// in C code, or called from that: asmcgocall has not
	MOVD	32(R7), R0	// g.sched
	CBZ	R0, done
	MOVD	LAYOUT_SWITCHED(R7), R1
	CBZ	R1, done
	ADD	R0, R9, R0
	MOVD	8(R0), R2	// sched.pc
	CMP	R1, R2
	BNE	done	// it waits, or is about to: what runs is the scheduler
	MOVD	40(R0), R12	// sched.bp
	B	walk
beyond:	// R2 third, R9 second, R10 first from the root; R14 how many there are
	MOVD	ZR, R2
	MOVD	ZR, R9
	MOVD	ZR, R10
outer:
	TST	$7, R12
	BNE	rooted
	CMP	R13, R12
	BLO	rooted
	SUB	$16, R11, R0
	CMP	R0, R12
	BHI	rooted
	ADD	$16, R12, R13
	MOVD	8(R12), R17
	MOVD	0(R12), R12
	CODE(R17, rooted)
	MOVD	R9, R2
	MOVD	R10, R9
	MOVD	R17, R10
	ADD	$1, R14
	CMP	$BEYOND, R14
	BNE	outer
	MOVD	ZR, R2	// not the root
	MOVD	ZR, R9
	MOVD	ZR, R10
rooted:
	CMP	$3, R14
	BLS	inner
	MOVD	$0x9000000000000000, R0	// rawformat.StackCut
	PUT(R0)
inner:
	LABELS(R11, 0x8000000000000000, label3, labels3)
	CBZ	R2, second
	PUT(R2)
second:
	CBZ	R9, first
	PUT(R9)
first:
	CBZ	R10, done
	PUT(R10)
	B	done
cut:	// the scheduler's stack alone has more frames than a record may have
	MOVD	$0x9000000000000000, R0
	PUT(R0)
	B	done
stackless:
	PUT(ZR)
	ADD	$1, R5
done:
	MOVD	RING_HEAD(R4), R1
	SUB	R1, R5, R0
	MOVD	0(RSP), R17	// overrun
	ADD	$16, RSP
	MOVD	$0xffff, R2
	CMP	R2, R17
	BLS	few
	MOVD	R2, R17
few:
	ORR	R17<<16, R0
	ORR	R1<<32, R0
	AND	$RING_MASK, R1
	MOVD	R0, (R6)(R1<<3)
	ADD	$RING_HEAD, R4, R0
	STLR	R5, (R0)
idle:
	BUSY(SUBW, over)
	RET
full:
	MOVD	RING_LOST(R4), R0
	ADD	$1, R0
	MOVD	R0, RING_LOST(R4)
	B	idle
chain:
	MOVD	$·sampleNext(SB), R3
	MOVD	(R3), R3
	B	(R3)

// func sampleEntry() (handler, restorer uintptr)
//
// There is no restorer: the kernel has its own, which debuggers know.
TEXT ·sampleEntry(SB),NOSPLIT|NOFRAME,$0-16
	MOVD	$·sampleHandler(SB), R0
	MOVD	R0, handler+0(FP)
	MOVD	ZR, restorer+8(FP)
	RET

// func outerPlace() (gp, sp uintptr)
//
// The stack pointer is that of the function that called the caller's caller, which has saved that function's frame
// pointer.
TEXT ·outerPlace(SB),NOSPLIT|NOFRAME,$0-16
	MOVD	g, gp+0(FP)
	MOVD	0(R29), R0
	MOVD	0(R0), R0
	ADD	$8, R0
	MOVD	R0, sp+8(FP)
	RET

// func threadPointer() uintptr
TEXT ·threadPointer(SB),NOSPLIT|NOFRAME,$0-8
	MRS	TPIDR_EL0, R0
	MOVD	R0, ret+0(FP)
	RET
