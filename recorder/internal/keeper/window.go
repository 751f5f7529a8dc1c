package keeper

import (
	"fmt"
	"slices"
	"time"

	"gprof/rawformat"
	"gprof/recorder/internal/profile"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

var cpuWindow = shard.Handle{Event: registry.Defined.Event(&registry.EventSpec{Name: "cpu window", Category: [3]string{"Profiler", "grey"}, Display: rawformat.ShowChart | rawformat.ShowTable,
	Tooltip: "CPU samples lie somewhere in this window",
	Fields:  []registry.FieldSpec{numberField("samples", rawformat.WireSint, rawformat.FormatInteger), numberField("cpu", rawformat.WireSint, rawformat.FormatNanoseconds)}})}

// sampleCPU runs one CPU profile after the other. It holds the process' only
// one, which is why [CPUPprof] has to be asked for.
func (k *Keeper) sampleCPU() {
	var window profile.Window
	skipped := false
	for k.awaitResume() {
		if err := window.Start(); err != nil {
			k.skipWindow(err, skipped)
			skipped = true
			k.sleep(profile.Length)
			continue
		}
		skipped = false
		begin := rt.Now()
		k.sleep(profile.Length)
		gzipped, end := window.Stop()
		if err := k.writeWindow(gzipped, begin, end); err != nil {
			k.rec.Lose(rawformat.LostSamples, 1, 0)
			k.rec.Log(rawformat.LogError, fmt.Sprintf("cpu window: %v", err))
		}
	}
}

// awaitResume waits while recording is paused; false when it is to stop. From
// its return to the next call samples may be written, see rest.
func (k *Keeper) awaitResume() bool {
	for {
		select {
		case <-k.quit:
			return false
		default:
		}
		k.sampling.Store(true) // first: who pauses looks at it afterwards
		if k.samples() {
			return true
		}
		k.sampling.Store(false)
		select {
		case <-k.quit:
		case <-k.shift:
		}
	}
}

// sleep waits that long, or until recording is paused, resumed or stopped.
func (k *Keeper) sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-k.shift:
	case <-k.quit:
	}
}

// skipWindow notes that the program's own profile is running. One line is
// enough for as long as it lasts; every window is counted.
func (k *Keeper) skipWindow(err error, again bool) {
	k.rec.Lose(rawformat.LostSamples, 1, 0)
	if !again {
		k.rec.Log(rawformat.LogWarn, fmt.Sprintf("no CPU samples for now: %v", err))
	}
}

// writeWindow writes the samples of a profile and the marker of their window.
func (k *Keeper) writeWindow(gzipped []byte, begin, end rt.Time) error {
	<-k.mapped
	before := rt.Now()
	samples, err := profile.Read(gzipped, registry.TrackLabel)
	if err != nil {
		return err
	}
	samples = slices.DeleteFunc(samples, func(s profile.Sample) bool { return k.leavesOut(s.Track) })
	if cut := profile.MarkTruncated(samples); cut > 0 {
		k.rec.Lose(rawformat.LostDeep, uint64(cut), 0)
	}
	slots, err := profile.Spread(samples, begin, end)
	if err != nil {
		return err
	}
	k.turning.Lock() // the ids count in one generation of the dictionary
	defer k.turning.Unlock()
	rows := make([]sampleRow, len(samples))
	for i := range rows {
		rows[i] = k.sampleRow(&samples[i])
	}
	cpu := int64(0)
	for _, s := range slots {
		k.writeSample(&rows[s.Row], s, end-begin)
		cpu += s.CPU
	}
	k.rec.Interval(cpuWindow, k.rec.Clock().At(begin), k.rec.Clock().At(end), shard.Type(len(slots)), shard.Type(time.Duration(cpu)))
	k.spent.samples.Add(int64(rt.Now() - before))
	k.spent.taken.Add(int64(len(slots)))
	return nil
}
