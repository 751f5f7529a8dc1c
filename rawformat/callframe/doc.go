// Package callframe is call frame information: the table in a program's .eh_frame that says, for
// each instruction, where the caller is and where it left its registers. Compilers write it for C,
// C++ and Rust whether or not the code has frame pointers.
//
// A [Table] is one program's. A [Walker] follows the calls of a thread whose registers and top of
// stack were copied when it was interrupted, as the kernel does for perf_event_open(2)
// (PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER). If a program has no such table, or nothing in it
// for an address (Go, code made at run time), it goes on by the frame pointer.
//
// The format is that of DWARF 4, section 6.4, with what the Linux Standard Base says of .eh_frame.
// Programs of amd64 and arm64 are read. Neither a program nor a stack is trusted: each length is
// checked before it is used, the work for a stack is bounded, and each step must lead further up it.
package callframe
