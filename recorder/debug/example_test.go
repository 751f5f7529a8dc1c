package debug_test

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

	"gprof/recorder"
	"gprof/recorder/debug"
)

// A program serves its recording:
//
//	curl http://localhost:6060/debug/gprof/snapshot?last=60s -o p.gprof
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	rec, err := recorder.Start(recorder.Options{Dir: dir, Service: "shop", Limit: 1 << 20})
	if err != nil {
		log.Print(err)
	}
	defer rec.Stop()
	http.Handle("/debug/gprof/", debug.Handler())
	server := httptest.NewServer(nil)
	defer server.Close()

	answer, err := http.Get(server.URL + "/debug/gprof/snapshot")
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	fmt.Println(answer.Status)
	// Output:
	// 200 OK
}

// Only clients that know a token are served:
//
//	curl -H "Authorization: Bearer $DEBUG_TOKEN" http://pod:8080/debug/gprof/snapshot -o p.gprof
func ExampleHandler() {
	want := sha256.Sum256([]byte("Bearer " + os.Getenv("DEBUG_TOKEN")))
	recordings := debug.Handler(debug.AllowHosts("debug.example.com"))
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/gprof/", func(w http.ResponseWriter, r *http.Request) {
		got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		if os.Getenv("DEBUG_TOKEN") == "" || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			http.Error(w, "want a token", http.StatusUnauthorized)
			return
		}
		recordings.ServeHTTP(w, r)
	})
}
