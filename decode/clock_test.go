package decode

import (
	"math"
	"testing"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/stream"
)

func TestClockAt(t *testing.T) {
	c := Fixed(4_999_000)
	for mono, want := range map[uint64]stream.Time{1000: 5_000_000, 1001: 5_000_001, 0: 4_999_000} {
		if got := c.At(mono); got != want {
			t.Errorf("At(%d) = %d, want %d", mono, got, want)
		}
	}
	if c := Piecewise([]Piece{{From: 0, Offset: 4_999_000}}); c.pieces != nil || c.At(1000) != 5_000_000 {
		t.Error("a clock of one piece is not the same as one offset")
	}
}

// Suspended for an hour at 1000, drifting from 2000 to 3000.
func TestClockPieces(t *testing.T) {
	const hour = 3600_000_000_000
	c := Piecewise([]Piece{{From: 500, Offset: 10}, {From: 1000, Offset: hour}, {From: 2000, Offset: hour, Drift: -10}, {From: 3000, Offset: hour - 10}})
	for mono, want := range map[uint64]stream.Time{
		0: 10, 500: 510, 999: 1009, 1000: hour + 1000, 1999: hour + 1999, 2000: hour + 2000,
		2100: hour + 2099, 2500: hour + 2495, 2999: hour + 2990, 3000: hour + 2990, 1e9: hour + 1e9 - 10,
	} {
		if got := c.At(mono); got != want {
			t.Errorf("At(%d) = %d, want %d", mono, got, want)
		}
	}
	last := c.At(0)
	for m := range uint64(4000) {
		if at := c.At(m); at < last {
			t.Fatalf("At(%d) = %d after %d", m, at, last)
		} else {
			last = at
		}
	}
	c.At(math.MaxUint64) // no panic
}

func BenchmarkClockAt(b *testing.B) {
	hour := []Piece{{From: 0, Offset: 10}, {From: 1e9, Offset: 3600e9}}
	for _, c := range []struct {
		name  string
		clock Clock
	}{{"fixed", Fixed(1e18)}, {"pieces", Piecewise(hour)}} {
		b.Run("clock="+c.name, func(b *testing.B) {
			m, sum := uint64(1e9), stream.Time(0)
			for b.Loop() {
				m++
				sum += c.clock.At(m)
			}
			_ = sum
		})
	}
}

// Ticks of 2 GHz and then 1 GHz: between anchors the rate is that of the
// segment, beyond the last it stays.
func TestTicks(t *testing.T) {
	ts := ticks{{TSC: 1000, Monotonic: 500}, {TSC: 3000, Monotonic: 1500}, {TSC: 4000, Monotonic: 2500}}
	for tick, want := range map[uint64]uint64{1000: 500, 2000: 1000, 3000: 1500, 3500: 2000, 5000: 3500, 800: 400} {
		if got := ts.monotonic(tick); got != want {
			t.Errorf("monotonic(%d) = %d, want %d", tick, got, want)
		}
	}
	if got := (ticks)(nil).monotonic(77); got != 77 {
		t.Errorf("without anchors: %d", got)
	}
	if got := (ticks{{TSC: 10, Monotonic: 100}}).monotonic(15); got != 105 {
		t.Errorf("with one anchor: %d", got)
	}
	var s segment // whatever it was used for before
	for _, tick := range []uint64{3500, 3000, 999, 1000, 1001, 9000, 2000, 4000, 4001, 0} {
		if got, want := s.at(ts, tick), ts.monotonic(tick); got != want {
			t.Errorf("tick %d is at %d in the segment, %d without it", tick, got, want)
		}
	}
	// Hostile anchors must not overflow into a panic.
	hostile := ticks{{TSC: 0, Monotonic: 0}, {TSC: 1, Monotonic: math.MaxUint64}}
	hostile.monotonic(math.MaxUint64)
}

// An anchor that contradicts the one before it is ignored.
func TestTicksThatFall(t *testing.T) {
	var images []*chunks.Image
	for _, a := range []rawformat.Anchor{{TSC: 1000, Monotonic: 500}, {TSC: 2000, Monotonic: 400}, {TSC: 3000, Monotonic: 1500}} {
		images = append(images, &chunks.Image{Header: rawformat.Header{Flags: uint16(rawformat.ClockTSC) << 8, Open: a}})
	}
	if got := newTicks(images, nil).monotonic(2000); got != 1000 {
		t.Errorf("tick 2000 is at %d", got)
	}
}

func TestScale(t *testing.T) {
	if got := scale(1<<62, 3, 4); got != 3<<60 {
		t.Errorf("scale = %d", got)
	}
	if got := scale(1<<63, 1<<63, 1); got != math.MaxUint64 {
		t.Errorf("overflow gives %d", got)
	}
}

// The numbers of formats, locations and privacy are part of the wire format,
// and those of the waist are the same ones.
func TestEnumerationsAgree(t *testing.T) {
	for _, c := range []struct {
		name       string
		wire, ours uint64
	}{
		{"integer", uint64(rawformat.FormatInteger), uint64(stream.FormatInteger)},
		{"decimal", uint64(rawformat.FormatDecimal), uint64(stream.FormatDecimal)},
		{"text", uint64(rawformat.FormatText), uint64(stream.FormatText)},
		{"bytes", uint64(rawformat.FormatBytes), uint64(stream.FormatBytes)},
		{"nanoseconds", uint64(rawformat.FormatNanoseconds), uint64(stream.FormatNanoseconds)},
		{"time", uint64(rawformat.FormatTime), uint64(stream.FormatTime)},
		{"percentage", uint64(rawformat.FormatPercentage), uint64(stream.FormatPercentage)},
		{"hexadecimal", uint64(rawformat.FormatHexadecimal), uint64(stream.FormatHexadecimal)},
		{"bool", uint64(rawformat.FormatBool), uint64(stream.FormatBool)},
		{"path", uint64(rawformat.FormatPath), uint64(stream.FormatPath)},
		{"url", uint64(rawformat.FormatURL), uint64(stream.FormatURL)},
		{"string", uint64(rawformat.FormatString), uint64(stream.FormatString)},
		{"flow", uint64(rawformat.FormatFlow), uint64(stream.FormatFlow)},
		{"flow end", uint64(rawformat.FormatFlowEnd), uint64(stream.FormatFlowEnd)},
		{"thread", uint64(rawformat.FormatThread), uint64(stream.FormatThread)},
		{"process", uint64(rawformat.FormatProcess), uint64(stream.FormatProcess)},
		{"window", uint64(rawformat.FormatWindow), uint64(stream.FormatWindow)},
		{"picowatt", uint64(rawformat.FormatPicowatt), uint64(stream.FormatPicowatt)},
		{"plain", uint64(rawformat.PrivacyPlain), uint64(stream.PrivacyPlain)},
		{"path", uint64(rawformat.PrivacyPath), uint64(stream.PrivacyPath)},
		{"url", uint64(rawformat.PrivacyURL), uint64(stream.PrivacyURL)},
		{"user", uint64(rawformat.PrivacyUser), uint64(stream.PrivacyUser)},
		{"secret", uint64(rawformat.PrivacySecret), uint64(stream.PrivacySecret)},
		{"chart", uint64(rawformat.ShowChart), uint64(stream.ShowChart)},
		{"table", uint64(rawformat.ShowTable), uint64(stream.ShowTable)},
		{"timeline", uint64(rawformat.ShowTimeline), uint64(stream.ShowTimeline)},
		{"memory", uint64(rawformat.ShowMemory), uint64(stream.ShowMemory)},
		{"ipc", uint64(rawformat.ShowIPC), uint64(stream.ShowIPC)},
		{"fileio", uint64(rawformat.ShowFileIO), uint64(stream.ShowFileIO)},
		{"stack", uint64(rawformat.ShowStack), uint64(stream.ShowStack)},
		{"instant", uint64(rawformat.PhaseInstant), uint64(stream.Instant)},
		{"interval", uint64(rawformat.PhaseInterval), uint64(stream.Interval)},
		{"start", uint64(rawformat.PhaseStart), uint64(stream.PhaseStart)},
		{"end", uint64(rawformat.PhaseEnd), uint64(stream.PhaseEnd)},
		{"paused", uint64(rawformat.PauseAll), stream.PausedAll},
		{"paused sampling", uint64(rawformat.PauseSampling), stream.PausedSampling},
		{"log error", uint64(rawformat.LogError), stream.LogError},
	} {
		if c.wire != c.ours {
			t.Errorf("%s is %d on the wire and %d in the waist", c.name, c.wire, c.ours)
		}
	}
}

// Every kind of a chunk has a handler, every kind of a dictionary a definition.
func TestHandlersAreComplete(t *testing.T) {
	for k, spec := range rawformat.Kinds {
		if spec.Name == "" {
			continue
		}
		if has := handlers[k] != nil; has != (spec.Place == rawformat.InChunk) {
			t.Errorf("%s: handler %v", spec.Name, has)
		}
		d := definitions[k]
		if has := (d.take != nil) != (d.read != nil); has != (spec.Place == rawformat.InDict) {
			t.Errorf("%s: definition %v", spec.Name, has)
		}
		if (handlers[k] != nil || d.take != nil) && layouts[k] == irregular {
			t.Errorf("%s: fields are not integers and a tail", spec.Name)
		}
	}
}

// A program may tell of times before the machine was started, when the counter was 0.
func TestBeforeTheStart(t *testing.T) {
	ticks := ticks{{TSC: 1000, Monotonic: 600}, {TSC: 3000, Monotonic: 1600}}
	w := worker{monoTSC: true, job: job{process: &process{Input: Input{Clock: Fixed(10_000)}, ticks: ticks}}}
	for tick, want := range map[int64]stream.Time{1000: 10_600, 0: 10_100, -100: 10_050, -1000: 9600, -1 << 40: 10_100 - 1<<39} {
		if at := w.signedMoment(tick); at != want {
			t.Errorf("tick %d is at %d, want %d", tick, at, want)
		}
	}
	w.monoTSC = false
	w.job.process.Clock = Piecewise([]Piece{{From: 0, Offset: 5}, {From: 100, Offset: 7}})
	for tick, want := range map[int64]stream.Time{-100: -95, 50: 55, 200: 207} {
		if at := w.signedMoment(tick); at != want {
			t.Errorf("%d ns are at %d, want %d", tick, at, want)
		}
	}
}
