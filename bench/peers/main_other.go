//go:build !linux

package main

import "log"

func main() { log.Fatal("peers: runs on Linux only") }
