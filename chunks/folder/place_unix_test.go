//go:build unix

package folder

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

const stranger = 4711 // some other user

// wantEmpty fails if anything was made in a directory.
func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%s holds %v, %v", dir, entries, err)
	}
}

// A directory that another user could change is refused as a session, and so is a link.
func TestMakeSessionRefuses(t *testing.T) {
	link := func(t *testing.T, from, to string) { must(t, os.Symlink(from, to)) }
	asStranger := func(t *testing.T, path string) { must(t, os.Lchown(path, stranger, stranger)) }
	cases := map[string]func(t *testing.T, above, session, victim string){
		"a link": func(t *testing.T, _, session, victim string) { link(t, victim, session) },
		"open to all": func(t *testing.T, _, session, _ string) {
			must(t, errors.Join(os.Mkdir(session, 0o700), os.Chmod(session, 0o777)))
		},
		"below one's own link": nil,
	}
	if os.Geteuid() == 0 { // only root gives files away
		cases["a stranger's link"] = func(t *testing.T, _, session, victim string) {
			link(t, victim, session)
			asStranger(t, session)
		}
		cases["a stranger's"] = func(t *testing.T, _, session, _ string) {
			must(t, os.Mkdir(session, 0o755))
			asStranger(t, session)
		}
		cases["below a stranger's link"] = func(t *testing.T, above, _, victim string) {
			must(t, os.Remove(above))
			link(t, victim, above)
			asStranger(t, above)
		}
	}
	for name, prepare := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			above, victim := filepath.Join(dir, "above"), filepath.Join(dir, "victim")
			session := filepath.Join(above, "s")
			must(t, errors.Join(os.Mkdir(above, 0o700), os.Mkdir(victim, 0o700)))
			if prepare == nil {
				must(t, os.Remove(above))
				link(t, victim, above)
				must(t, MakeSession(session, 0o700))
				return
			}
			prepare(t, above, session, victim)
			if err := MakeSession(session, 0o700); !errors.Is(err, ErrForeign) {
				t.Errorf("error %v", err)
			}
			if err := MakeInstance(filepath.Join(session, "00000000000000aa"), 0o700); err == nil {
				t.Error("an instance was made")
			}
			wantEmpty(t, victim)
		})
	}
}

// A group shares a session if it was asked for, and only one of ours.
func TestSessionOfGroup(t *testing.T) {
	mine, all := uint32(os.Getegid()), uint32(stranger)
	for _, c := range []struct {
		o     owner
		group bool
		ok    bool
	}{
		{owner{uint32(os.Geteuid()), all, 0o770}, false, true},
		{owner{stranger, mine, 0o770}, true, true},
		{owner{stranger, mine, 0o770}, false, false},
		{owner{stranger, mine, 0o750}, true, false},
		{owner{stranger, all, 0o770}, true, false},
		{owner{stranger, mine, 0o777}, true, false},
		{owner{0, 0, 0o755}, false, true},
	} {
		if err := c.o.refuseSession("s", c.group); (err == nil) != c.ok {
			t.Errorf("%+v, group %v: %v", c.o, c.group, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
