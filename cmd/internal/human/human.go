// Package human writes numbers, sizes and tables as people read them.
package human

import (
	"fmt"
	"strings"
	"time"
)

// Plural is a number of things.
func Plural(n int, what string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(what, "s"):
		what += "es"
	default:
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// Bytes writes a size for people.
func Bytes(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 10<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

// Share is a part of all in per cent.
func Share(part, all int64) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(all))
}

// Time writes a duration in ns with three digits or a little more.
func Time(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d == 0:
		return "0"
	case d >= 10*time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return fmt.Sprintf("%.2fs", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.2fms", float64(d)/1e6)
	case d >= time.Microsecond:
		return fmt.Sprintf("%.2fµs", float64(d)/1e3)
	}
	return fmt.Sprintf("%dns", ns)
}

func OnlyIf(when bool, text string) string {
	if when {
		return text
	}
	return ""
}

func OrDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// OneLine is an error without line breaks.
func OneLine(err error) string { return strings.Join(strings.Split(err.Error(), "\n"), "; ") }

// Word is a word as a shell takes it.
func Word(s string) string {
	plain := func(r rune) bool {
		return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || strings.ContainsRune("%+,-./:=@_", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
