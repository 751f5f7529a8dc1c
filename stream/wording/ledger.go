// Package wording tells people what is in the ledger and the tables of a run: why
// something is missing, how a process ended, how far its heap samples can be trusted. All
// outputs and commands take their words from here.
package wording

import (
	"fmt"
	"strconv"
	"strings"

	"gprof/stream"
)

var reasons = [stream.NumReasons]string{
	stream.ReasonDropped:     "dropped by the recorder",
	stream.ReasonGap:         "chunk is missing",
	stream.ReasonMissing:     "file is missing",
	stream.ReasonTorn:        "cut short",
	stream.ReasonDamaged:     "checksum differs",
	stream.ReasonForeign:     "of another process, or overwritten while it was copied",
	stream.ReasonStale:       "was being reused when it was copied",
	stream.ReasonUnproven:    "read without a checksum",
	stream.ReasonUnknownKind: "of a later version, skipped",
	stream.ReasonMalformed:   "fields do not parse",
	stream.ReasonUndefined:   "definition is missing",
	stream.ReasonNoStack:     "repeats a sample that is gone",
	stream.ReasonUnpaired:    "end without a start",
	stream.ReasonDuplicate:   "given twice, read once",
	stream.ReasonUnreadable:  "could not be read",
	stream.ReasonClock:       "clock not aligned exactly",
	stream.ReasonExpired:     "left out by rule",
	stream.ReasonUnsupported: "has no place in the output format",
	stream.ReasonCut:         "too long for the output format, cut",
	stream.ReasonMoved:       "kept in another place",
	stream.ReasonLeftOut:     "left out by a slice of the recording",
	stream.ReasonStalled:     "nothing came any more",
	stream.ReasonRefused:     "refused: not to be trusted",
	stream.ReasonRedacted:    "made unreadable, as was asked for",
	stream.ReasonFiltered:    "not asked for",
	stream.ReasonImpossible:  "cannot be as it stands: left out or changed",
	stream.ReasonNewer:       "of a later version: read as far as it is known",
	stream.ReasonDiscarded:   "made way for newer ones: the ring was full",
	stream.ReasonTwin:        "recorded twice at the same time, counted once",
	stream.ReasonNoPlace:     "not what the output format is for",
	stream.ReasonNoValue:     "no recording tells it",
	stream.ReasonHeap:        "as old as the last heap samples",
	stream.ReasonDeep:        "(truncated) stands for calls beyond the depth that is recorded",
	stream.ReasonMadeUp:      "made up, so that a viewer finds what is retained: not of the process",
	stream.ReasonRepeated:    "between two that say the same: left out, as the viewer wants it",
}

// Reason says why a line is in the ledger, in a few words.
func Reason(r stream.Reason) string { return reasons[r] }

// Amount says how much a line is about: "3 pages, 12288 bytes".
func Amount(line stream.Line) string {
	text := fmt.Sprintf("%d %s", line.Count, line.What)
	if line.Bytes > 0 {
		text += fmt.Sprintf(", %d bytes", line.Bytes)
	}
	return text
}

// Line says how much a line is about, and where.
func Line(line stream.Line) string {
	if line.Where == "" {
		return Amount(line)
	}
	return Amount(line) + ": " + line.Where
}

// Remark says all that is in a line, for a comment in an output.
func Remark(line stream.Line) string {
	text := line.Reason.Severity().String() + ": "
	if line.Process != "" {
		text += line.Process + " "
	}
	text += line.Reason.String()
	if line.Where != "" {
		text += " " + line.Where
	}
	return text + ": " + Amount(line) + " (" + Reason(line.Reason) + ")"
}

// ParseRemark reads what Remark writes of a line of no process and no place. It is not ok for
// any other text.
func ParseRemark(text string) (line stream.Line, ok bool) {
	severity, rest, _ := strings.Cut(text, ": ")
	reason, rest, _ := strings.Cut(rest, ": ")
	for line.Reason = range stream.NumReasons {
		if line.Reason.String() == reason && line.Reason.Severity().String() == severity {
			break
		}
	}
	amount, ok := strings.CutSuffix(rest, " ("+Reason(line.Reason)+")")
	count, what, _ := strings.Cut(amount, " ")
	if at := strings.LastIndex(what, ", "); at >= 0 {
		if number, isBytes := strings.CutSuffix(what[at+len(", "):], " bytes"); isBytes {
			line.Bytes, _ = strconv.ParseInt(number, 10, 64)
			what = what[:at]
		}
	}
	line.Count, _ = strconv.ParseInt(count, 10, 64)
	line.What = what
	return line, ok && Remark(line) == text
}
