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

// sampleCPU runs one CPU profile after the other. A process can have only one at a time,
// which is why [CPUPprof] has to be asked for.
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

// awaitResume waits while recording is paused; false: the keeper is to stop. Samples may be
// written from its return until the next call, see rest.
func (k *Keeper) awaitResume() bool {
	for {
		select {
		case <-k.quit:
			return false
		default:
		}
		k.sampling.Store(true) // before samples, because a pause is noted before rest looks at sampling
		if k.samples() {
			return true
		}
		k.sampling.Store(false)
		select {
		case <-k.quit:
		case <-k.pauseChanged:
		}
	}
}

// sleep waits that long, or until recording is paused, resumed or stopped.
func (k *Keeper) sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-k.pauseChanged:
	case <-k.quit:
	}
}

// skipWindow notes that the program's own profile is running. One line is enough for as
// long as it lasts; every skipped window is counted.
func (k *Keeper) skipWindow(err error, again bool) {
	k.rec.Lose(rawformat.LostSamples, 1, 0)
	if !again {
		k.rec.Log(rawformat.LogWarn, fmt.Sprintf("no CPU samples for now: %v", err))
	}
}

// writeWindow writes the samples of a profile and the marker of their window.
func (k *Keeper) writeWindow(gzipped []byte, begin, end rt.Time) error {
	<-k.mapped
	w := k.watch()
	samples, err := profile.Read(gzipped, registry.TrackLabel)
	if err != nil {
		return err
	}
	samples = slices.DeleteFunc(samples, func(s profile.Sample) bool { return k.leavesOut(&s) })
	if cut := profile.MarkTruncated(samples); cut > 0 {
		k.rec.Lose(rawformat.LostDeep, uint64(cut), 0)
	}
	slots, err := profile.Spread(samples, begin, end)
	if err != nil {
		return err
	}
	k.rotating.Lock() // ids belong to one generation of the dictionary
	defer k.rotating.Unlock()
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
	w.spent(&k.spent.samples)
	k.spent.taken.Add(int64(len(slots)))
	return nil
}

// writeSample writes one sample block.
func (k *Keeper) writeSample(row *sampleRow, at profile.Slot, window rt.Time) {
	k.rec.Write(shard.Wait, shard.Block{Kind: rawformat.KindSample, Time: k.rec.Clock().At(at.At), Track: row.track, Labels: row.labels, PCs: row.raw,
		Fields: []uint64{0, 0, uint64(row.track), row.stack, 1, uint64(at.CPU) + 1, uint64(window)}})
}
