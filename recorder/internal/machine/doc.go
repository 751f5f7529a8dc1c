// Package machine says what the machine is that a process runs on.
package machine
