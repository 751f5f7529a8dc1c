package recorder

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestNoRoom(t *testing.T) {
	clearEnvironment(t)
	_, err := Options{Dir: "/proc/x", Service: "a"}.plan() // where there is no free space
	if !errors.Is(err, ErrNoRoom) || !strings.Contains(err.Error(), "/proc/x/a") {
		t.Errorf("%v, want %v that names the directory", err, ErrNoRoom)
	}
}

func TestSharedDirIsOurs(t *testing.T) {
	dir := t.TempDir()
	for mode, want := range map[os.FileMode]bool{0o700: true, 0o755: true, 0o777: false, 0o770: false} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if private(info) != want {
			t.Errorf("mode %v: private is %v", mode, !want)
		}
	}
}
