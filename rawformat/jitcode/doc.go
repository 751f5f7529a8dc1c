// Package jitcode is the lists that programs write of the code they make as they run: which function is
// at which address. There are two forms, both made for Linux perf:
//
//   - perf-PID.map is text, a function a line: address, size and name (node --perf-basic-prof,
//     python -X perf, java -XX:+DumpPerfMapAtExit, jcmd PID Compiler.perfmap).
//   - jit-PID.dump, called jitdump, is binary records: code that was made and moved, with source lines
//     (node --perf-prof). See jitdump-specification.txt of perf.
//
// If functions overlap, the one that was listed later counts, because memory is used again. A list
// is not trusted: lines that can't be read are skipped, and all of it has a bound.
package jitcode
