#include "textflag.h"

// func Call(handler uintptr, signal int, info, context unsafe.Pointer)
TEXT ·Call(SB), NOSPLIT, $16-32
	MOVD	handler+0(FP), R3
	MOVD	signal+8(FP), R0
	MOVD	info+16(FP), R1
	MOVD	context+24(FP), R2
	BL	(R3)
	RET
