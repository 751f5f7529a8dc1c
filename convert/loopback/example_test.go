package loopback_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"

	"gprof/convert/loopback"
)

// A file is served to those who know its address, until the context is done.
func ExampleServer() {
	server, err := loopback.Listen(loopback.Options{})
	if err != nil {
		log.Fatal(err)
	}
	text := strings.NewReader("main.work 1\n")
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- server.Serve(ctx, loopback.File("shop.folded", "text/plain", text, text.Size())) }()

	answer, err := http.Get(server.URL("shop.folded"))
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(body))
	stop()
	fmt.Println(<-done)
	// Output:
	// main.work 1
	// <nil>
}
