package profileproto

// Comments of profiles that are sums over many inputs. They are read back, so that the sum of
// sums is the sum of all, to the byte. Remarks about the inputs stand besides, see
// stream/wording.
const (
	// CommentSum is a format of the comment of a sum: the mapping of a program, which is the
	// first one otherwise, and those whose addresses are made up, separated by spaces.
	CommentSum = "# sum of gprof-convert; program in mapping %d; made-up addresses in mappings: %s"
	// CommentUnknownCPU is a format, of a number of samples.
	CommentUnknownCPU = "# the CPU time of %d samples is unknown"
	// CommentIncomplete is shown by pprof.
	CommentIncomplete = "The recording is incomplete: see pprof -comments"
)
