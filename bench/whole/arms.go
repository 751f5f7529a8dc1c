//go:build linux

package main

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"runtime/pprof"
	"runtime/trace"
	"time"

	"github.com/grafana/pyroscope-go"

	"gprof/fixtures/servers"
	"gprof/recorder"
)

// An arm is something that records, or stands in for that.
type arm struct {
	name string
	rare bool // one block in three is enough, as it takes much
	on   func() error
	off  func()
}

// slowBlock has one upload of Pyroscope's, which makes one each 15 s by default.
const slowBlock = 16 * time.Second

func arms(dir string) (fast, slow []*arm, done func(), err error) {
	rec, err := recorder.Start(recorder.Options{Service: "whole", Dir: filepath.Join(dir, "sessions")})
	if err != nil {
		return nil, nil, nil, err
	}
	rec.Pause()
	address, end, err := startSink()
	if err != nil {
		return nil, nil, nil, err
	}
	var flight *trace.FlightRecorder
	var pyro *pyroscope.Profiler
	fast = []*arm{
		{"nothing again", false, func() error { return nil }, func() {}},
		{"planted 0.5 %", false, planted.on, planted.off},
		{"gprof", false, func() error { rec.Resume(); return nil }, rec.Pause},
		{"trace.FlightRecorder", true, func() error {
			flight = trace.NewFlightRecorder(trace.FlightRecorderConfig{})
			return flight.Start()
		}, func() { flight.Stop() }},
		{"pprof CPU profile", true, func() error { return pprof.StartCPUProfile(io.Discard) }, pprof.StopCPUProfile},
	}
	slow = []*arm{
		{"nothing again, long blocks", false, func() error { return nil }, func() {}},
		{"Pyroscope's SDK, long blocks", false, func() (err error) {
			pyro, err = pyroscope.Start(pyroscope.Config{ApplicationName: "whole", ServerAddress: address})
			return err
		}, func() { pyro.Stop() }},
	}
	return fast, slow, func() { rec.Stop(); end() }, nil
}

// startSink starts what Pyroscope's SDK pushes to: another process, whose CPU time isn't
// ours.
func startSink() (address string, end func(), err error) {
	cmd, out, err := child(sinkRole)
	if err != nil {
		return "", nil, err
	}
	if _, err := fmt.Fscanln(out, &address); err != nil {
		cmd.end()
		return "", nil, err
	}
	return address, cmd.end, nil
}

func sink() error {
	l, err := servers.Listen()
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
	}))
}
