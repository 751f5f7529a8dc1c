//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// again repeats a system call that a signal interrupts.
func again(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

// openFolder opens a directory in another one, or by its path if that is unix.AT_FDCWD. It
// must not be a link.
func openFolder(in int, name, path string) (fd int, err error) {
	err = again(func() (err error) {
		fd, err = unix.Openat(in, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		return err
	})
	if err == nil {
		return fd, nil
	}
	var st unix.Stat_t
	if unix.Fstatat(in, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
		err = fmt.Errorf("%w: it is a link; remove it, or give the directory that is meant", ErrForeign)
	}
	return -1, &fs.PathError{Op: "open", Path: path, Err: err}
}

// openParent opens the directory of a file. That of a file of an instance is opened by way
// of its session.
func openParent(path string) (fd int, name string, err error) {
	dir, name := filepath.Dir(path), filepath.Base(path)
	if _, ok := InstanceOf(filepath.Base(dir)); !ok {
		fd, err = openFolder(unix.AT_FDCWD, dir, dir)
		return fd, name, err
	}
	session, err := openFolder(unix.AT_FDCWD, filepath.Dir(dir), filepath.Dir(dir))
	if err != nil {
		return -1, "", err
	}
	defer unix.Close(session)
	fd, err = openFolder(session, filepath.Base(dir), dir)
	return fd, name, err
}

// inParent calls f with the open directory of a path, and the name in it.
func inParent(op, path string, f func(dir int, name string) error) error {
	dir, name, err := openParent(path)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	if err := again(func() error { return f(dir, name) }); err != nil {
		return &fs.PathError{Op: op, Path: path, Err: err}
	}
	return nil
}

// OpenFile opens a file. A new one is for its owner only. Links are not followed.
func OpenFile(path string, flags int) (f *os.File, err error) {
	err = inParent("open", path, func(dir int, name string) error {
		fd, err := unix.Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		if err == nil {
			f = os.NewFile(uintptr(fd), path)
		}
		return err
	})
	return f, err
}

// makeFile makes a file that does not exist yet, for its owner only, and returns the mode of its directory.
func makeFile(path string) (f *os.File, mode fs.FileMode, err error) {
	err = inParent("open", path, func(dir int, name string) error {
		o, err := ownerOf(dir)
		if err != nil {
			return err
		}
		fd, err := unix.Openat(dir, name, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		if err == nil {
			f, mode = os.NewFile(uintptr(fd), path), o.mode
		}
		return err
	})
	return f, mode, err
}

// RemoveFile removes a file.
func RemoveFile(path string) error {
	return inParent("remove", path, func(dir int, name string) error { return unix.Unlinkat(dir, name, 0) })
}

// RenameFile gives a file another name in its directory.
func RenameFile(from, to string) error {
	return inParent("rename", from, func(dir int, name string) error { return unix.Renameat(dir, name, dir, filepath.Base(to)) })
}

// RemoveDir removes an empty directory, but not a file of that name.
func RemoveDir(path string) error {
	return inParent("remove", path, func(dir int, name string) error { return unix.Unlinkat(dir, name, unix.AT_REMOVEDIR) })
}

func ownerOf(fd int) (owner, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return owner{}, os.NewSyscallError("fstat", err)
	}
	return owner{st.Uid, st.Gid, fs.FileMode(st.Mode & 0o777)}, nil
}

// MakeSession makes the directory of a session in an existing directory, with that mode, for
// the owner or for the group as well. An existing session is accepted if others cannot
// replace it, and opened to the group if it is ours and the mode asks for that. Otherwise
// the error is [ErrForeign].
func MakeSession(session string, mode fs.FileMode) error {
	above := filepath.Dir(session)
	var st unix.Stat_t
	if unix.Lstat(above, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK && !(owner{uid: st.Uid}).isOurs() {
		return fmt.Errorf("%s: %w: it is a link of user %d; remove it, or give another directory", above, ErrForeign, st.Uid)
	}
	made := true
	err := again(func() error { return unix.Mkdir(session, uint32(mode.Perm())) })
	if err == unix.EEXIST {
		made, err = false, nil
	}
	if err != nil {
		return &fs.PathError{Op: "mkdir", Path: session, Err: err}
	}
	return openSession(session, mode, func(fd int, o owner) error {
		if made || o.mode.Perm() != mode.Perm() && isForGroup(mode) && o.uid == uint32(os.Geteuid()) {
			return setMode(fd, mode)
		}
		return nil
	})
}

// openSession opens the directory of a session, and checks whether it can be trusted.
func openSession(session string, mode fs.FileMode, f func(fd int, o owner) error) error {
	fd, err := openFolder(unix.AT_FDCWD, session, session)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	o, err := ownerOf(fd)
	if err != nil {
		return err
	}
	if err := o.refuseSession(session, isForGroup(mode)); err != nil {
		return err
	}
	return f(fd, o)
}

// CheckSession returns an error of class [ErrForeign] if nothing can be recorded in the
// directory of a session, shared with a group or not. If the directory does not exist it
// can be made.
func CheckSession(session string, group bool) error {
	mode := fs.FileMode(0o700)
	if group {
		mode = 0o770
	}
	err := openSession(session, mode, func(int, owner) error { return nil })
	if !errors.Is(err, ErrForeign) {
		return nil // the recorder meets other errors again
	}
	return err
}

func isForGroup(mode fs.FileMode) bool { return mode.Perm()&GroupWrites != 0 }

// setMode changes the mode of an open file, whatever the umask is.
func setMode(fd int, mode fs.FileMode) error {
	bits := uint32(mode.Perm())
	if mode&fs.ModeSetgid != 0 {
		bits |= unix.S_ISGID
	}
	return os.NewSyscallError("fchmod", again(func() error { return unix.Fchmod(fd, bits) }))
}

// MakeInstance makes the directory of an instance, with that mode, in a session that
// [MakeSession] has made.
func MakeInstance(dir string, mode fs.FileMode) error {
	session, name := filepath.Split(dir)
	session = filepath.Clean(session)
	return openSession(session, mode, func(fd int, _ owner) error {
		if err := again(func() error { return unix.Mkdirat(fd, name, uint32(mode.Perm())) }); err != nil {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: err}
		}
		at, err := openFolder(fd, name, dir)
		if err != nil {
			return err
		}
		defer unix.Close(at)
		return setMode(at, mode)
	})
}

// CheckControl checks whether an open control page can be trusted. If it is ours, and its
// directory is open to the group, it is opened to the group as well.
func CheckControl(f *os.File) error {
	page, err := ownerOf(int(f.Fd()))
	if err != nil {
		return err
	}
	return inParent("open", f.Name(), func(dir int, _ string) error {
		session, err := ownerOf(dir)
		if err == nil {
			err = page.refuseControl(f.Name(), session)
		}
		if err == nil && isForGroup(session.mode) && !isForGroup(page.mode) && page.uid == uint32(os.Geteuid()) {
			err = f.Chmod(0o660)
		}
		return err
	})
}
