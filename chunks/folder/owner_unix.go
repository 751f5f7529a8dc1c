//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package folder

import (
	"fmt"
	"io/fs"
	"os"
)

// owner says who owns a directory or a file, and what others may do with it.
type owner struct {
	uid, gid uint32
	mode     fs.FileMode
}

// refuseSession returns why the directory of a session must not be used, nil if it may be.
// With group set, members of its group are trusted.
func (o owner) refuseSession(path string, group bool) error {
	switch {
	case o.mode.Perm()&othersWrite != 0:
		return fmt.Errorf("%s: %w: its mode is %04o; record in another directory, one in it, say, or take the right to write from others (chmod o-w)", path, ErrForeign, o.mode.Perm())
	case o.isOurs():
		return nil
	case group && o.mode.Perm()&GroupWrites != 0 && inGroup(o.gid):
		return nil
	}
	return fmt.Errorf("%s: %w: it belongs to user %d; record in another directory, or as that user, or share it with a group (GroupAccess)", path, ErrForeign, o.uid)
}

// refuseControl returns why a control page in a session of that owner must not be used.
func (o owner) refuseControl(path string, session owner) error {
	shared := session.mode.Perm()&GroupWrites != 0 && o.gid == session.gid
	if o.mode.Perm()&othersWrite == 0 && (o.isOurs() || o.uid == session.uid || shared) {
		return nil
	}
	return fmt.Errorf("%s: %w: it belongs to user %d and has mode %04o; remove it, or record in another directory", path, ErrForeign, o.uid, o.mode.Perm())
}

// isOurs reports whether it belongs to us or to root, who may change anything.
func (o owner) isOurs() bool { return o.uid == 0 || o.uid == uint32(os.Geteuid()) }

// inGroup reports whether this process is in a group.
func inGroup(gid uint32) bool {
	if gid == uint32(os.Getegid()) {
		return true
	}
	groups, _ := os.Getgroups() // without them it is in none
	for _, g := range groups {
		if gid == uint32(g) {
			return true
		}
	}
	return false
}
