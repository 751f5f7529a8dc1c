package folder

import "errors"

// A session may lie where others can write, for example in a volume that many share. They
// must not be able to change our files, nor make us touch theirs. So each file of a
// session is opened, renamed and removed relative to its directories, which are open and
// not links, and the owner of a session and of its control page is checked when they are
// open.

// ErrForeign means that a directory or a file cannot be trusted, because others can change
// or replace it.
var ErrForeign = errors.New("somebody else could change what is recorded")
