//go:build !linux

package main

import "log"

func main() { log.Fatal("whole measures on Linux only") }
