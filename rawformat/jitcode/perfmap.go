package jitcode

import (
	"strconv"
	"strings"
)

// OfProcess stands for the build of the code that a process has made, of which offsets are addresses.
func OfProcess(pid int32) string { return "process " + strconv.Itoa(int(pid)) }

// MapName is the name of the list as text of a process.
func MapName(pid int32) string { return "perf-" + strconv.Itoa(int(pid)) + ".map" }

// OfMapName is the process of a list as text by its name.
func OfMapName(name string) (pid int32, ok bool) { return ofName(name, "perf-", ".map") }

// OfDumpName is the process of a jitdump by its name.
func OfDumpName(name string) (pid int32, ok bool) { return ofName(name, "jit-", ".dump") }

func ofName(name, prefix, suffix string) (pid int32, ok bool) {
	text, begins := strings.CutPrefix(name, prefix)
	text, ends := strings.CutSuffix(text, suffix)
	n, err := strconv.ParseInt(text, 10, 32)
	return int32(n), begins && ends && err == nil && n > 0
}

// MaxLine bounds a line: names may contain paths and types.
const MaxLine = 1 << 20

// ParseLine parses a line of text: address and size in hexadecimal, with or without 0x, and a name.
func ParseLine(line string) (f Function, ok bool) {
	start, rest, _ := strings.Cut(strings.TrimSuffix(line, "\r"), " ")
	size, name, _ := strings.Cut(rest, " ")
	var err1, err2 error
	f.Start, err1 = strconv.ParseUint(strings.TrimPrefix(start, "0x"), 16, 64)
	f.Size, err2 = strconv.ParseUint(strings.TrimPrefix(size, "0x"), 16, 64)
	f.Name = strings.Clone(name)
	return f, err1 == nil && err2 == nil && f.Size > 0 && name != ""
}
