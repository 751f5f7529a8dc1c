package logs_test

import (
	"log"
	"log/slog"
	"os"

	"gprof/recorder"
	"gprof/recorder/logs"
)

// A program records what it logs. The value of customer is redacted with those of the kind
// user, those of token and of the message with secrets, that of days stays; the text on standard
// output has all.
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

	text := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime})
	logger := slog.New(logs.NewHandler(text, &logs.Options{Kinds: map[string]logs.Kind{"customer": logs.User, "days": logs.Plain}}))
	logger.Warn("order is late", "customer", "Mrs. Smith", "days", 3, logs.Secret.Attr("token", "17f"))
	// Output: level=WARN msg="order is late" customer="Mrs. Smith" days=3 token=17f
}

func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}
