//go:build !gprof_portable && !go1.28

#include "textflag.h"

// Numbers of the kernel.
#define SI_CODE 8
#define SI_ADDR 16
#define BUS_ADRERR 2
#define EFAULT 14
#define SYS_mmap 9
#define SYS_rt_sigprocmask 14
#define SYS_rt_sigreturn 15
#define PROT_READ_WRITE 3
#define MAP_ANEW 0x4032 // MAP_PRIVATE, MAP_FIXED, MAP_ANONYMOUS, MAP_NORESERVE

// Of faultRange.
#define RANGE_START 0
#define RANGE_END 8
#define RANGE_PAGES 16
#define RANGE_SIZE 24

// faultHandler is the handler of SIGBUS. It runs on the thread that touched a page,
// with all signals blocked, perhaps in the middle of another handler.
//
//  1. Is the page without a place in a file, and in a range of ours? If not, it is
//     the business of who had the signal before.
//  2. One thread at a time: is the page still bad? A system call that only reads
//     there tells; another thread may have been quicker, and written there by now.
//  3. Memory of the process takes its place, and what was interrupted is tried
//     again.
//
// All registers are the interrupted code's, and the kernel restores them. Who is
// next gets the arguments that it would have got: DI, SI, DX.
//
//	R8 address   R9 range   R10 ranges left   R12 DI   R13 SI   R14 DX   R15 page
//	BX range
TEXT ·faultHandler(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	CMPL	SI_CODE(SI), $BUS_ADRERR
	JNE	chain
	MOVQ	SI_ADDR(SI), R8
	LEAQ	·faultRanges(SB), R9
	MOVL	·faultsUsed(SB), R10
look:
	SUBQ	$1, R10
	JCS	chain
	CMPQ	R8, RANGE_START(R9)
	JCS	another
	CMPQ	R8, RANGE_END(R9)
	JCS	ours
another:
	ADDQ	$RANGE_SIZE, R9
	JMP	look
ours:
	PUSHQ	BX
	PUSHQ	R12
	PUSHQ	R13
	PUSHQ	R14
	PUSHQ	R15
	MOVQ	R9, BX
	MOVQ	DI, R12
	MOVQ	SI, R13
	MOVQ	DX, R14
	MOVQ	R8, R15
	ANDQ	$~4095, R15
lock:
	MOVL	$1, AX
	XCHGL	AX, ·faultLock(SB)
	TESTL	AX, AX
	JEQ	locked
	PAUSE
	JMP	lock
locked:
	MOVL	$-1, DI	// no such way to change a mask
	MOVQ	R15, SI
	XORL	DX, DX
	MOVL	$8, R10
	MOVL	$SYS_rt_sigprocmask, AX
	SYSCALL
	CMPQ	AX, $-EFAULT
	JNE	mended
	MOVQ	R15, DI
	MOVL	$4096, SI
	MOVL	$PROT_READ_WRITE, DX
	MOVL	$MAP_ANEW, R10
	MOVQ	$-1, R8
	XORL	R9, R9
	MOVL	$SYS_mmap, AX
	SYSCALL
	CMPQ	AX, R15
	JNE	failed
	LOCK
	INCL	RANGE_PAGES(BX)
	LOCK
	INCL	·faultsSeen(SB)
mended:
	MOVL	$0, ·faultLock(SB)
	POPQ	R15
	POPQ	R14
	POPQ	R13
	POPQ	R12
	POPQ	BX
	RET
failed:
	MOVL	$0, ·faultLock(SB)
	MOVQ	R12, DI
	MOVQ	R13, SI
	MOVQ	R14, DX
	POPQ	R15
	POPQ	R14
	POPQ	R13
	POPQ	R12
	POPQ	BX
chain:
	MOVQ	·faultNext(SB), AX
	JMP	AX

// faultReturn is where the handler returns to.
TEXT ·faultReturn(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	MOVQ	$SYS_rt_sigreturn, AX
	SYSCALL
	INT	$3	// not reached

// func faultEntry() (handler, restorer uintptr)
TEXT ·faultEntry(SB),NOSPLIT,$0-16
	LEAQ	·faultHandler(SB), AX
	MOVQ	AX, handler+0(FP)
	LEAQ	·faultReturn(SB), AX
	MOVQ	AX, restorer+8(FP)
	RET
