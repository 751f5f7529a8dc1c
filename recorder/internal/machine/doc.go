// Package machine says what machine a process runs on.
package machine
