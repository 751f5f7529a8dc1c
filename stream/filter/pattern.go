package filter

import "gprof/rawformat/pattern"

// Pattern is a name in which * stands for any characters and ? for one.
type Pattern = pattern.Pattern

// Patterns are alternatives.
type Patterns = pattern.Patterns

// Tracks says which tracks are wanted.
type Tracks = pattern.Tracks
