//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package folder

import (
	"fmt"
	"io/fs"
	"os"
)

// owner is whose a directory or a file is.
type owner struct {
	uid, gid uint32
	mode     fs.FileMode
}

// refuseSession is why a session's directory is not to be used; nil: it may be. With
// group, those of its group are trusted.
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

// refuseControl is why a control page in a session of that owner is not to be used.
func (o owner) refuseControl(path string, session owner) error {
	shared := session.mode.Perm()&GroupWrites != 0 && o.gid == session.gid
	if o.mode.Perm()&othersWrite == 0 && (o.isOurs() || o.uid == session.uid || shared) {
		return nil
	}
	return fmt.Errorf("%s: %w: it belongs to user %d and has mode %04o; remove it, or record in another directory", path, ErrForeign, o.uid, o.mode.Perm())
}

// isOurs reports whether nobody but us and those who may do anything can change it.
func (o owner) isOurs() bool { return o.uid == 0 || o.uid == uint32(os.Geteuid()) }

// inGroup reports whether this process is of a group.
func inGroup(gid uint32) bool {
	if gid == uint32(os.Getegid()) {
		return true
	}
	groups, _ := os.Getgroups() // of those that are not known it is none
	for _, g := range groups {
		if gid == uint32(g) {
			return true
		}
	}
	return false
}
