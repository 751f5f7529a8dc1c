package recorder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Modes of directories: a recording may hold what is nobody else's business.
// With GroupAccess whatever is made in a session belongs to its group.
const (
	privateMode = 0o700
	passMode    = os.ModeSetgid | 0o750 // above the session
	groupMode   = os.ModeSetgid | 0o770
)

// makeDirs makes what is missing of the session and dir in it. A session that
// was made without GroupAccess is opened to the group if it is ours.
func (p *plan) makeDirs(dir string) error {
	if !p.GroupAccess {
		return os.MkdirAll(dir, privateMode)
	}
	if err := makeDir(filepath.Dir(p.session), passMode); err != nil {
		return err
	}
	if err := makeDir(p.session, groupMode); err != nil {
		return err
	}
	if err := openToGroup(p.session, groupMode); err != nil {
		return err
	}
	if err := openToGroup(filepath.Join(p.session, "control"), 0o660); err != nil {
		return err
	}
	return makeDir(dir, groupMode)
}

// openToGroup changes the mode of what was made before; of what is somebody
// else's it is not ours to change.
func openToGroup(path string, mode os.FileMode) error {
	err := os.Chmod(path, mode)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// makeDir makes dir and what is missing above it, whatever the umask is. What
// exists stays as it is.
func makeDir(dir string, mode os.FileMode) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if above := filepath.Dir(dir); above != dir {
		if err := makeDir(above, mode); err != nil {
			return err
		}
	}
	err := os.Mkdir(dir, mode.Perm())
	if errors.Is(err, fs.ErrExist) {
		return os.MkdirAll(dir, mode.Perm()) // another process was quicker, or it is no directory
	}
	if err != nil {
		return err
	}
	return os.Chmod(dir, mode)
}
