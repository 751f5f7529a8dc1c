package pprofui_test

import (
	"bytes"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime/pprof"

	"gprof/convert/pprofui"
)

// pprof's pages show a profile of this program. Here a test requests a page; a
// program would serve the handler to a browser.
func ExampleServe() {
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 0); err != nil {
		log.Fatal(err)
	}
	err := pprofui.Serve(&profile, func(pages http.Handler) error {
		answer := httptest.NewRecorder()
		pages.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/top", nil))
		fmt.Println(answer.Code, answer.Header().Get("Content-Type"))
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 200 text/html
}
