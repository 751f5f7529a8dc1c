//go:build !gprof_portable && !go1.28

#include "textflag.h"

// Offsets that the kernel and rawformat's stack rings define. The Go code has them, too; a test compares both.
#define SI_CODE 8
#define SI_OVERRUN 20
#define SI_VALUE 24
#define UC_RBP 120
#define UC_RSP 160
#define UC_RIP 168
#define RING_HEAD 64
#define RING_LOST 72
#define RING_CPU 80
#define RING_TAIL 128
#define RING_DATA 4096
#define RING_MASK 2047
#define LAYOUT_DEPTH 72
#define LAYOUT_ROOM 80
#define LAYOUT_CPU 88
#define LAYOUT_SWITCHED 96
#define BEYOND 16384	// how many further frames are walked after those that are written
#define SYS_rt_sigreturn 15
#define SYS_clock_gettime 228

// LABELS appends the goroutine's labels that were begun at or below an address, marked by some bits, the
// innermost first. It clobbers AX and SI.
#define LABELS(address, bits, again, end) \
again: \
	TESTQ	R8, R8; \
	JEQ	end; \
	MOVL	8(DX)(R8*8), SI; \
	MOVQ	R11, AX; \
	SUBQ	SI, AX; \
	CMPQ	AX, address; \
	JHI	end; \
	MOVL	12(DX)(R8*8), AX; \
	MOVQ	$bits, SI; \
	ORQ	SI, AX; \
	PUT(AX); \
	DECQ	R8; \
	JMP	again; \
end:

// PUT appends the word in a register to the record. It clobbers SI.
#define PUT(reg) \
	MOVQ	R10, SI; \
	ANDQ	$RING_MASK, SI; \
	MOVQ	reg, (R15)(SI*8); \
	INCQ	R10

// sampleHandler is the signal handler. It runs on the thread whose timer has expired, at any instruction, with
// all signals blocked but SIGBUS. It touches only its thread's ring, the g's that its thread runs, and their stacks.
//
//  1. If the signal is not from one of our timers, pass it to the handler that had the signal before.
//  2. Take the thread's slot: while it is busy its ring stays mapped.
//  3. Write time, goroutine, labels, the interrupted pc, and the CPU time since
//     the thread's last record.
//  4. Walk the frame pointers, upwards only and within the stack of the g, then
//     from the scheduler's stack over to the goroutine's; and over the frames of C
//     that Go called and that has called Go.
//  5. If there are more frames than a record may have, walk on to the root, and
//     write only the outermost frames.
//  6. Write the size, then the head, which makes the record valid.
//
// The kernel restores all registers.
//
//	R9 ring   R10 head of the record being written   R15 data   DI layout
//	R12 g whose stack is walked   R13 goroutine   R11 stack.hi   R14 frames left
//	BX frame pointer   CX what it must not be below
//	R8 slot, later labels left   DX context, later the goroutine's labels
//	X0 not 0: g0's stack was lent to the goroutine, for the clock's code
TEXT ·sampleHandler(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	CMPL	SI_CODE(SI), $-2	// SI_TIMER
	JNE	chain
	MOVQ	SI_VALUE(SI), AX
	MOVQ	AX, CX
	SHRQ	$48, CX
	CMPL	CX, $0x6770	// sampleMagic
	JNE	chain
	MOVWLZX	AX, R8
	CMPL	R8, $1024	// maxSlots
	JCC	chain
	SHLQ	$6, R8
	LEAQ	·sampleSlots(SB), CX
	ADDQ	CX, R8
	SHRQ	$16, AX
	LOCK
	INCL	12(R8)	// busy
	MOVQ	0(R8), R9	// ring
	TESTQ	R9, R9
	JEQ	idle
	CMPL	AX, 8(R8)	// generation
	JNE	idle
	LEAQ	·sampleLayout(SB), DI
	MOVQ	RING_HEAD(R9), R10
	MOVQ	R10, AX
	SUBQ	RING_TAIL(R9), AX
	CMPQ	AX, LAYOUT_ROOM(DI)
	JHI	full
	PUSHQ	R8
	MOVL	SI_OVERRUN(SI), AX
	PUSHQ	AX
	LEAQ	RING_DATA(R9), R15
	MOVQ	R10, SI
	ANDQ	$RING_MASK, SI
	MOVQ	$0, (R15)(SI*8)	// the old record here is no longer valid
	INCQ	R10	// the size comes last

	CMPQ	64(DI), $0	// counter
	JEQ	clock
	MOVQ	DX, R14
	RDTSC
	SHLQ	$32, DX
	ORQ	DX, AX
	MOVQ	R14, DX
	JMP	timed
clock:
	SUBQ	$16, SP
	MOVQ	SP, SI
	MOVL	$1, DI	// CLOCK_MONOTONIC
	MOVL	$SYS_clock_gettime, AX
	SYSCALL
	MOVQ	0(SP), AX
	MOVQ	8(SP), CX
	ADDQ	$16, SP
	IMULQ	$1000000000, AX
	ADDQ	CX, AX
	LEAQ	·sampleLayout(SB), DI
timed:
	PUT(AX)

	XORL	R14, R14
	CMPQ	LAYOUT_CPU(DI), $0
	JEQ	used
	SUBQ	$16, SP
	MOVQ	SP, SI
	MOVL	$3, DI	// CLOCK_THREAD_CPUTIME_ID
	MOVL	$SYS_clock_gettime, AX
	SYSCALL
	MOVQ	0(SP), CX
	MOVQ	8(SP), SI
	ADDQ	$16, SP
	LEAQ	·sampleLayout(SB), DI
	TESTQ	AX, AX
	JNE	used
	IMULQ	$1000000000, CX
	ADDQ	SI, CX
	MOVQ	CX, R14
	SUBQ	RING_CPU(R9), R14
	CMOVQLT	AX, R14
	INCQ	R14	// 0 is not known
	MOVQ	CX, RING_CPU(R9)
used:	// its place is behind the top
	MOVQ	$0x8800000000000000, AX	// rawformat.StackCPU
	ORQ	AX, R14
	LEAQ	4(R10), SI
	ANDQ	$RING_MASK, SI
	MOVQ	R14, (R15)(SI*8)

	MOVQ	TLS, CX
	MOVQ	0(CX)(TLS*1), R12
	MOVQ	R12, R13
	XORL	R11, R11
	TESTQ	R12, R12
	JEQ	foreign
	MOVQ	8(R12), R11	// stack.hi
	MOVQ	16(DI), CX	// g.m
	TESTQ	CX, CX
	JEQ	ids
	MOVQ	(R12)(CX*1), AX
	TESTQ	AX, AX
	JEQ	ids
	MOVQ	24(DI), CX	// m.curg
	MOVQ	(AX)(CX*1), AX
	TESTQ	AX, AX
	JEQ	ids
	MOVQ	AX, R13
ids:
	XORL	AX, AX
	MOVQ	0(DI), CX	// g.goid
	TESTQ	CX, CX
	JEQ	noid
	MOVQ	(R13)(CX*1), AX
noid:
	PUT(AX)
	XORL	AX, AX
	MOVQ	8(DI), CX	// g.labels
	TESTQ	CX, CX
	JEQ	nolabels
	MOVQ	(R13)(CX*1), AX
nolabels:
	PUT(AX)
	JMP	where
foreign:	// a thread that Go does not know
	XORL	AX, AX
	PUT(AX)
	PUT(AX)
where:
	PXOR	X0, X0
	MOVQ	UC_RIP(DX), AX
	PUT(AX)
	MOVQ	UC_RSP(DX), CX
	MOVQ	UC_RBP(DX), BX
	XORL	AX, AX
	TESTQ	R11, R11
	JEQ	stackless
	MOVQ	0(R12), AX	// stack.lo
	CMPQ	CX, AX
	JCS	elsewhere
	LEAQ	8(CX), SI
	CMPQ	SI, R11
	JHI	elsewhere
	MOVQ	(CX), AX
	JMP	top
elsewhere:	// such as the clock's code, which the runtime runs on its m's g0
	MOVQ	16(DI), SI	// g.m
	TESTQ	SI, SI
	JEQ	apart
	MOVQ	(R12)(SI*1), SI
	TESTQ	SI, SI
	JEQ	apart
	MOVQ	0(SI), SI	// m.g0
	TESTQ	SI, SI
	JEQ	apart
	CMPQ	CX, 0(SI)
	JCS	apart
	LEAQ	8(CX), AX
	CMPQ	AX, 8(SI)
	JHI	apart
	MOVQ	SI, R12
	MOVQ	8(SI), R11
	MOVQ	SI, X0
	MOVQ	(CX), AX
	JMP	top
apart:
	MOVQ	0(R12), CX
	XORL	AX, AX
top:
	PUT(AX)
	INCQ	R10	// the CPU time

	// The goroutine's labels.
	XORL	R8, R8
	MOVQ	RING_HEAD(R9), SI
	ADDQ	$2, SI
	ANDQ	$RING_MASK, SI
	MOVQ	(R15)(SI*8), AX	// goid
	TESTQ	AX, AX
	JEQ	labelled
	CMPQ	56(DI), $0	// slots
	JEQ	labelled
	MOVQ	$0x9e3779b97f4a7c15, DX	// labelHash
	IMULQ	AX, DX
	SHRQ	$(64-11), DX	// labelBits
	MOVL	$4, R14	// labelProbes
probe:
	MOVQ	DX, SI
	SHLQ	$7, SI
	ADDQ	56(DI), SI	// slots
	CMPQ	AX, 0(SI)
	JEQ	found
	INCQ	DX
	ANDQ	$2047, DX
	DECL	R14
	JNE	probe
	JMP	labelled
found:
	MOVQ	SI, DX
	MOVQ	8(DX), R8
	CMPQ	R8, $14	// maxLabels
	JLS	deepest
	MOVL	$14, R8
deepest:
	CMPQ	R12, R13
	JNE	labelled
	LABELS(CX, 0xc000000000000000, label0, labels0)	// before the pc
	ADDQ	$8, CX
	LABELS(CX, 0xa000000000000000, label1, labels1)	// before the top
	SUBQ	$8, CX
labelled:
	MOVQ	LAYOUT_DEPTH(DI), R14
walk:
	TESTQ	$7, BX
	JNE	leave
	CMPQ	BX, CX
	JCS	leave
	CMPQ	BX, R11
	JCC	leave
	LEAQ	16(BX), CX
	CMPQ	CX, R11
	JHI	leave
	CMPQ	R12, R13
	JNE	frame
	LABELS(CX, 0x8000000000000000, label2, labels2)
frame:
	MOVQ	8(BX), AX
	CMPQ	AX, 40(DI)	// text
	JCS	done
	CMPQ	AX, 48(DI)	// etext
	JCC	done
	PUT(AX)
	MOVQ	0(BX), BX
	DECL	R14
	JNE	walk
	CMPQ	R12, R13
	JEQ	beyond
	JMP	cut
leave:	// if g0 works for a goroutine, that one's stack is next
	CMPQ	R12, R13
	JEQ	called
	TESTQ	BX, BX	// mcall has cleared it: the scheduler is running
	JEQ	done
	MOVQ	32(DI), SI	// g.sched
	TESTQ	SI, SI
	JEQ	done
	MOVQ	R13, R12
	MOVQ	0(R12), CX
	MOVQ	8(R12), R11
	MOVQ	X0, AX
	TESTQ	AX, AX
	JNE	clocked
	MOVQ	(R12)(SI*1), AX	// sched.sp: systemstack's return address lies there
	CMPQ	AX, CX
	JCS	base
	LEAQ	8(AX), SI
	CMPQ	SI, R11
	JHI	base
	MOVQ	(AX), AX
	CMPQ	AX, 40(DI)
	JCS	base
	CMPQ	AX, 48(DI)
	JCC	base
	PUT(AX)
base:
	CMPQ	BX, CX
	JCS	saved
	CMPQ	BX, R11
	JCS	walk
	JMP	saved
clocked:	// sched is of an earlier time
	CMPQ	BX, CX
	JCS	done
	CMPQ	BX, R11
	JCS	walk
	JMP	done
saved:	// C code has no frame pointers
	MOVQ	32(DI), SI
	MOVQ	40(R12)(SI*1), BX	// sched.bp
	JMP	walk
called:	// by C, which Go has called: cgocallback has saved there, not here, where its caller's frame is
	TESTQ	BX, BX
	JEQ	done
	MOVQ	LAYOUT_SWITCHED(DI), SI
	TESTQ	SI, SI
	JEQ	done
	LEAQ	56(CX), AX	// behind the two frames
	CMPQ	AX, R11
	JHI	done
	CMPQ	SI, 32(CX)	// cgocallback's frame, made as if asmcgocall had called it, which had left this stack
	JNE	done
	LEAQ	40(CX), BX	// asmcgocall's
	JMP	walk
beyond:	// BX third, R12 second, R13 first from the root; R14 how many there are
	PUSHQ	R8
	PUSHQ	DX
	XORL	R8, R8
	XORL	R12, R12
	XORL	R13, R13
outer:
	TESTQ	$7, BX
	JNE	rooted
	CMPQ	BX, CX
	JCS	rooted
	CMPQ	BX, R11
	JCC	rooted
	LEAQ	16(BX), CX
	CMPQ	CX, R11
	JHI	rooted
	MOVQ	8(BX), AX
	CMPQ	AX, 40(DI)	// text
	JCS	rooted
	CMPQ	AX, 48(DI)	// etext
	JCC	rooted
	MOVQ	R12, R8
	MOVQ	R13, R12
	MOVQ	AX, R13
	MOVQ	0(BX), BX
	INCL	R14
	CMPL	R14, $BEYOND
	JNE	outer
	XORL	R8, R8	// not the root
	XORL	R12, R12
	XORL	R13, R13
rooted:
	MOVQ	R8, BX
	POPQ	DX
	POPQ	R8
	CMPL	R14, $3
	JLS	inner
	MOVQ	$0x9000000000000000, AX	// rawformat.StackCut
	PUT(AX)
inner:
	LABELS(R11, 0x8000000000000000, label3, labels3)
	TESTQ	BX, BX
	JEQ	second
	PUT(BX)
second:
	TESTQ	R12, R12
	JEQ	first
	PUT(R12)
first:
	TESTQ	R13, R13
	JEQ	done
	PUT(R13)
	JMP	done
cut:	// the scheduler's stack alone has more frames than a record may have
	MOVQ	$0x9000000000000000, AX
	PUT(AX)
	JMP	done
stackless:
	PUT(AX)
	INCQ	R10
done:
	MOVQ	RING_HEAD(R9), SI
	MOVQ	R10, AX
	SUBQ	SI, AX
	POPQ	CX	// overrun
	CMPQ	CX, $0xffff
	JLS	few
	MOVL	$0xffff, CX
few:
	SHLQ	$16, CX
	ORQ	CX, AX
	MOVQ	SI, CX
	SHLQ	$32, CX
	ORQ	CX, AX
	ANDQ	$RING_MASK, SI
	MOVQ	AX, (R15)(SI*8)
	MOVQ	R10, RING_HEAD(R9)	// a release store
	POPQ	R8
	LOCK
	DECL	12(R8)
	RET
full:
	INCQ	RING_LOST(R9)
idle:
	LOCK
	DECL	12(R8)
	RET
chain:
	MOVQ	·sampleNext(SB), AX
	JMP	AX

// sampleReturn is where the handler returns to.
TEXT ·sampleReturn(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	MOVQ	$SYS_rt_sigreturn, AX
	SYSCALL
	INT	$3	// not reached

// func sampleEntry() (handler, restorer uintptr)
TEXT ·sampleEntry(SB),NOSPLIT,$0-16
	LEAQ	·sampleHandler(SB), AX
	MOVQ	AX, handler+0(FP)
	LEAQ	·sampleReturn(SB), AX
	MOVQ	AX, restorer+8(FP)
	RET

// func outerPlace() (gp, sp uintptr)
//
// The stack pointer is that of the function that called the caller's caller. The caller's frame begins with the
// frame pointer of its own caller, above which that caller's return address lies.
TEXT ·outerPlace(SB),NOSPLIT|NOFRAME,$0-16
	MOVQ	TLS, CX
	MOVQ	0(CX)(TLS*1), AX
	MOVQ	AX, gp+0(FP)
	MOVQ	0(BP), AX
	ADDQ	$16, AX
	MOVQ	AX, sp+8(FP)
	RET
