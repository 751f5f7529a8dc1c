package debug_test

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"os"

	"gprof/recorder/debug"
)

// Only those who know a token are served:
//
//	curl -H "Authorization: Bearer $DEBUG_TOKEN" http://pod:8080/debug/gprof/snapshot -o p.gprof
func ExampleHandler() {
	want := sha256.Sum256([]byte("Bearer " + os.Getenv("DEBUG_TOKEN")))
	recordings := debug.Handler(debug.AllowHosts("debug.example.com"))
	http.HandleFunc("/debug/gprof/", func(w http.ResponseWriter, r *http.Request) {
		got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		if os.Getenv("DEBUG_TOKEN") == "" || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			http.Error(w, "want a token", http.StatusUnauthorized)
			return
		}
		recordings.ServeHTTP(w, r)
	})
}
