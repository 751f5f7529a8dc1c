package pprofui

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

func encoded(t *testing.T) *bytes.Buffer {
	t.Helper()
	f := &profile.Function{ID: 1, Name: "main.work"}
	l := &profile.Location{ID: 1, Line: []profile.Line{{Function: f, Line: 3}}}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}},
		Sample:     []*profile.Sample{{Location: []*profile.Location{l}, Value: []int64{7}}},
		Location:   []*profile.Location{l}, Function: []*profile.Function{f},
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return &b
}

// The pages show the profile; pprof keeps no copy of it at home.
func TestServe(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("PPROF_TMPDIR", "")
	t.Setenv("XDG_CONFIG_HOME", home)
	served := false
	err := Serve(encoded(t), func(h http.Handler) error {
		served = true
		for path, want := range map[string]string{"/top": "main.work", "/flamegraph": "main.work", "/peek": "main.work", "/nothing": "not found", "/debug/vars": "not found"} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: %d without %q", path, w.Code, want)
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if to := w.Header().Get("Location"); to != "flamegraph" { // below whatever path it is served
			t.Errorf("the root leads to %q", to)
		}
		return nil
	})
	if err != nil || !served {
		t.Errorf("served %v, error %v", served, err)
	}
	if left, _ := filepath.Glob(home + "/*"); len(left) > 0 {
		t.Errorf("left at home: %v", left)
	}
}

func TestErrors(t *testing.T) {
	if err := Serve(strings.NewReader("no profile"), nil); !errors.Is(err, ErrUI) {
		t.Errorf("not a profile: %v", err)
	}
	if err := Serve(encoded(t), func(http.Handler) error { return os.ErrClosed }); !errors.Is(err, os.ErrClosed) || errors.Is(err, ErrUI) {
		t.Errorf("an error of who serves: %v", err)
	}
}
