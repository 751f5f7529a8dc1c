package debug

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"gprof/recorder"
)

// maxAhead is how long a request may have the program traced.
const maxAhead = time.Minute

// trace has a window taken.
func trace(w http.ResponseWriter, r *http.Request) {
	ahead := time.Second
	if text := r.FormValue("ahead"); text != "" {
		var err error
		if ahead, err = time.ParseDuration(text); err != nil || ahead < 0 || ahead > maxAhead {
			http.Error(w, fmt.Sprintf("ahead=%q: want a duration such as 1s, at most %v", text, maxAhead), http.StatusBadRequest)
			return
		}
	}
	file, err := recorder.Running().Trace(ahead)
	switch {
	case errors.Is(err, recorder.ErrNoTrace):
		http.Error(w, err.Error(), http.StatusForbidden)
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	default:
		fmt.Fprintln(w, filepath.Base(file)) // an error means that the client is gone
	}
}
