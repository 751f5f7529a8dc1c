package folder

import "errors"

// A session may lie where others can write, in a volume of many, say. What they can do
// there must not reach our files, nor have us touch theirs: so each file of a session
// is opened, renamed and removed relative to its directories as they were opened, of
// which none may be a link, and what a session begins with is looked at once it is open.

// ErrForeign means that a directory or a file is not what this process may trust:
// somebody else can put something else in its place.
var ErrForeign = errors.New("somebody else could change what is recorded")
