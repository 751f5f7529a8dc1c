//go:build !gprof_portable && !go1.28

#include "textflag.h"

// Numbers of the kernel.
#define SI_CODE 8
#define SI_ADDR 16
#define BUS_ADRERR 2
#define EFAULT 14
#define SYS_mmap 222
#define SYS_futex 98
#define FUTEX_CMP_REQUEUE 132 // and FUTEX_PRIVATE_FLAG
#define PROT_READ_WRITE 3
#define MAP_ANEW 0x4032 // MAP_PRIVATE, MAP_FIXED, MAP_ANONYMOUS, MAP_NORESERVE

// Of faultRange.
#define RANGE_START 0
#define RANGE_END 8
#define RANGE_PAGES 16
#define RANGE_SIZE 24

// COUNT adds one to the word that a register points to, and spoils R9 and R10.
#define COUNT(at, again) \
again: \
	LDAXRW	(at), R9; \
	ADDW	$1, R9; \
	STLXRW	R9, (at), R10; \
	CBNZW	R10, again

// faultHandler is the handler of SIGBUS. It runs on the thread that touched a page,
// with all signals blocked, perhaps in the middle of another handler.
//
//  1. Is the page without a place in a file, and in a range of ours? If not, it is
//     the business of who had the signal before. A range that changes while it is
//     looked at is looked at again.
//  2. One thread at a time: is the page still bad? A system call that only reads
//     there tells; another thread may have been quicker, and written there by now.
//     It is one that emulators, too, leave to the kernel: others they would die of.
//  3. Memory of the process takes its place, and what was interrupted is tried
//     again.
//
// It spoils no register that a C function must keep, for somebody who has taken the
// signal since may call it as one. Who is next gets the arguments that it would
// have got: R0, R1, R2.
//
//	R3 address   R4 start, end   R5 ranges left   R6 end   R7 where that is
//	R11 page   R12 R0   R13 R1   R14 R2   R15 lock   R16 range   R17 size of a page
TEXT ·faultHandler(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	MOVW	SI_CODE(R1), R3
	CMPW	$BUS_ADRERR, R3
	BNE	chain
	MOVD	SI_ADDR(R1), R3
	MOVD	$·faultRanges(SB), R16
	MOVD	$·faultsUsed(SB), R5
	LDARW	(R5), R5
look:
	CBZW	R5, chain
	ADD	$RANGE_END, R16, R7
	LDAR	(R7), R6
	CMP	R6, R3
	BHS	another
	LDAR	(R16), R4	// start
	CMP	R4, R3
	BLO	another
	LDAR	(R7), R4
	CMP	R4, R6
	BNE	look
	B	ours
another:
	SUBW	$1, R5
	ADD	$RANGE_SIZE, R16
	B	look
ours:
	MOVD	R0, R12
	MOVD	R1, R13
	MOVD	R2, R14
	MOVD	$·faultPage(SB), R17
	MOVD	(R17), R17
	NEG	R17, R4
	AND	R4, R3, R11
	MOVD	$·faultLock(SB), R15
lock:
	LDAXRW	(R15), R9
	CBNZW	R9, busy
	MOVW	$1, R9
	STLXRW	R9, (R15), R10
	CBZW	R10, locked
busy:
	YIELD
	B	lock
locked:
	MOVD	R11, R0
	MOVD	$FUTEX_CMP_REQUEUE, R1
	MOVD	ZR, R2	// wake nobody
	MOVD	ZR, R3	// move nobody
	MOVD	R11, R4
	MOVD	ZR, R5
	MOVD	$SYS_futex, R8
	SVC
	ADD	$EFAULT, R0
	CBNZ	R0, mended
	MOVD	R11, R0
	MOVD	R17, R1
	MOVD	$PROT_READ_WRITE, R2
	MOVD	$MAP_ANEW, R3
	MOVD	$-1, R4
	MOVD	ZR, R5
	MOVD	$SYS_mmap, R8
	SVC
	CMP	R0, R11
	BNE	failed
	ADD	$RANGE_PAGES, R16
	COUNT(R16, pages)
	MOVD	$·faultsSeen(SB), R16
	COUNT(R16, seen)
mended:
	STLRW	ZR, (R15)
	RET
failed:
	STLRW	ZR, (R15)
	MOVD	R12, R0
	MOVD	R13, R1
	MOVD	R14, R2
chain:
	MOVD	$·faultNext(SB), R3
	LDAR	(R3), R3
	B	(R3)

// func faultEntry() (handler, restorer uintptr)
//
// There is no restorer: the kernel has its own, which debuggers know.
TEXT ·faultEntry(SB),NOSPLIT,$0-16
	MOVD	$·faultHandler(SB), R0
	MOVD	R0, handler+0(FP)
	MOVD	ZR, restorer+8(FP)
	RET
