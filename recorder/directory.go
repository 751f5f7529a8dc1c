package recorder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"gprof/chunks/folder"
)

// Modes of directories: a recording may hold what is nobody else's business.
// With GroupAccess whatever is made in a session belongs to its group.
const (
	privateMode = 0o700
	passMode    = os.ModeSetgid | 0o750 // above the session
	groupMode   = os.ModeSetgid | 0o770
)

// makeDirs makes what is missing of the session and dir in it. A session that
// was made without GroupAccess is opened to the group if it is ours; one that somebody
// else could change is refused, see [folder.MakeSession].
func (p *plan) makeDirs(dir string) error {
	above, mode := fs.FileMode(privateMode), fs.FileMode(privateMode)
	if p.GroupAccess {
		above, mode = passMode, groupMode
	}
	if err := makeDir(filepath.Dir(p.session), above); err != nil {
		return err
	}
	if dir := filepath.Dir(p.session); !p.GroupAccess && isShared(dir) {
		if err := checkShared(dir); err != nil {
			return err
		}
	}
	if err := folder.MakeSession(p.session, mode); err != nil {
		return err
	}
	return folder.MakeInstance(dir, mode)
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
