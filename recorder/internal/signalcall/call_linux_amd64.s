#include "textflag.h"

// func Call(handler uintptr, signal int, info, context unsafe.Pointer)
TEXT ·Call(SB), NOSPLIT, $16-32
	MOVQ	handler+0(FP), AX
	MOVQ	signal+8(FP), DI
	MOVQ	info+16(FP), SI
	MOVQ	context+24(FP), DX
	CALL	AX
	RET
