package recorder_test

import (
	"log"
	"os"
	"time"

	"gprof/recorder"
)

// Three lines embed the recorder. When it can't start, the program goes on
// without it.
func Example() {
	rec, err := recorder.Start(recorder.Options{Service: "example"})
	if err != nil {
		log.Print(err)
	}
	defer rec.Stop()
	// Output:
}

// flush is an event with two typed fields.
var flush = recorder.NewEvent2("flush", recorder.Bytes("size"), recorder.Path("file"))

func ExampleNewEvent2() {
	write := func(file string, data []byte) error {
		defer flush.Begin(len(data), file).End() // the interval of the call
		return os.WriteFile(file, data, 0o600)
	}
	if err := write(os.DevNull, []byte("hello")); err != nil {
		log.Print(err)
	}
	// Output:
}

// queued is read ten times a second.
var queued = recorder.NewCounter("queued", recorder.Describe("jobs that wait"))

func ExampleNewCounter() {
	queued.Add(1)
	defer queued.Add(-1)
	// Output:
}

// ofPage has a field for the page.
var ofPage = recorder.NewEvent2("render", recorder.PageID("page"), recorder.String("part"))

func ExampleOpenPage() {
	job := recorder.OpenPage("job://nightly/invoices")
	defer job.Close()
	ofPage.Mark(job.ID(), "summary")
	// Output:
}

// waited is marked when a job is taken from a queue, for the time that it spent there.
var waited = recorder.NewEvent1("waited", recorder.String("queue"))

func ExampleEvent_Between() {
	job := struct{ Queued time.Time }{time.Now()}
	waited.Between(recorder.TimeOf(job.Queued), recorder.Now(), "mail")
	// Output:
}
