package loopback

import (
	"io"
	"net/http"
	"time"
)

// File is a handler of one file, which it reads from content, of size bytes, on
// any number of goroutines. It is there under its name alone.
func File(name, contentType string, content io.ReaderAt, size int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/"+name:
			http.NotFound(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only to be read", http.StatusMethodNotAllowed)
		default:
			w.Header().Set("Content-Type", contentType)
			http.ServeContent(w, r, name, time.Time{}, io.NewSectionReader(content, 0, size))
		}
	})
}
