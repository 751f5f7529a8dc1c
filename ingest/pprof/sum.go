package pprof

import (
	"fmt"
	"strconv"
	"strings"

	"gprof/rawformat/profileproto"
	"gprof/stream"
	"gprof/stream/wording"
)

// sumNotes are what the comments of a sum say of it. A profile of others has none.
type sumNotes struct {
	isSum      bool
	program    uint64          // its mapping, by number
	madeUp     map[uint64]bool // mappings with addresses that are made up, by number
	lines      []stream.Line   // about what is missing from its inputs
	unknownCPU int64           // samples whose CPU time is unknown
}

// sumHead is what comes before the numbers in the comment of a sum.
var sumHead, _, _ = strings.Cut(profileproto.CommentSum, ": ")

// note takes a comment, if it is one of a sum. The one that says so comes before the others.
func (n *sumNotes) note(comment string) (taken bool) {
	var program uint64
	if _, err := fmt.Sscanf(comment, sumHead, &program); err == nil {
		_, numbers, _ := strings.Cut(comment, ": ")
		n.isSum, n.program, n.madeUp = true, program, map[uint64]bool{}
		for _, word := range strings.Fields(numbers) {
			if id, err := strconv.ParseUint(word, 10, 64); err == nil && len(n.madeUp) < maxMapped {
				n.madeUp[id] = true
			}
		}
		return true
	}
	if !n.isSum {
		return false
	}
	if line, ok := wording.ParseRemark(strings.TrimPrefix(comment, "# ")); ok {
		n.lines = append(n.lines, line)
		return true
	}
	var unknown int64
	if _, err := fmt.Sscanf(comment, profileproto.CommentUnknownCPU, &unknown); err == nil && unknown > 0 {
		n.unknownCPU = unknown
		return true
	}
	return comment == profileproto.CommentIncomplete // follows from the lines
}
