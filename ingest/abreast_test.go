package ingest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime/trace"
	"testing"

	"gprof/rawformat/perfevent"
)

// traceOf is an execution trace of this process, which logs something.
func traceOf(t *testing.T, message string) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := trace.Start(&out); err != nil {
		t.Fatal(err)
	}
	ctx, task := trace.NewTask(context.Background(), "task")
	for range 100 {
		trace.Log(ctx, "said", message)
	}
	task.End()
	trace.Stop()
	return out.Bytes()
}

// perfData is a perf.data of samples of a process.
func perfData(pid uint64) []byte {
	words := func(all ...uint64) (b []byte) {
		for _, v := range all {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		return b
	}
	const front, attr = 104, 80
	const fields = perfevent.SampleIP | perfevent.SampleTID | perfevent.SampleTime | perfevent.SampleChain | perfevent.SamplePeriod
	var data []byte
	for i := range uint64(1000) {
		body := words(0x1000+i%7, pid<<32|pid, 1000*(i+1), 500, 3, 0x1000+i%7, 0x2000+pid, 0x3000+i)
		data = append(data, words(perfevent.KindSample|perfevent.MiscUser<<32|uint64(8+len(body))<<48)...)
		data = append(data, body...)
	}
	b := append([]byte("PERFILE2"), words(front, attr, front, attr, front+attr, uint64(len(data)), 0, 0, 0, 0, 0, 0)...)
	b = append(b, words(1|64<<32, 0, 500, fields, 0, 0, 0, 0, 0, 0)...) // cpu-clock, without ids
	return append(b, data...)
}

// foreignFiles are some files of each format, one of them torn.
func foreignFiles(t *testing.T) (names []string) {
	t.Helper()
	dir := t.TempDir()
	add := func(name string, data []byte) { names = append(names, writeFile(t, dir, name, data)) }
	for i := range 5 {
		add(fmt.Sprintf("%d.pb.gz", i), packedProfile(t, i))
	}
	whole := rawProfile(t, 9)
	add("torn.pprof", whole[:len(whole)-1])
	for i := range 2 {
		add(fmt.Sprintf("%d.trace", i), traceOf(t, fmt.Sprint("message ", i)))
		add(fmt.Sprintf("%d.perf.data", i), perfData(uint64(70+i)))
		add(fmt.Sprintf("%d.script", i), fmt.Appendf(nil, "prog %[1]d/%[1]d 10.%06[1]d: 1000 cpu-clock:\n\t401000 work+0x1 (/bin/prog)\n\t402000 main+0x2 (/bin/prog)\n\n", 40+i))
		add(fmt.Sprintf("%d.json", i), fmt.Appendf(nil, `{"meta":{"version":31,"startTime":%d},"libs":[],"processes":[],"threads":[{"name":"GeckoMain","samples":{"schema":{"stack":0,"time":1},"data":[[null,%d]]}}]}`, 1000+i, i))
	}
	return names
}

// Files of other tools are read several at a time; what comes is the same, also
// of the directory that they lie in.
func TestForeignAtOnce(t *testing.T) {
	inputs := foreignFiles(t)
	r := rand.New(rand.NewPCG(3, 4))
	var want []byte
	for _, jobs := range []int{0, 1, 2, 5} {
		r.Shuffle(len(inputs), func(i, j int) { inputs[i], inputs[j] = inputs[j], inputs[i] })
		if jobs == 5 {
			inputs = []string{filepath.Dir(inputs[0])}
		}
		got, _ := textOf(t, inputs, Options{Jobs: jobs})
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d jobs, inputs %v: another output than before", jobs, inputs)
		}
	}
	for _, part := range []string{"message 1", "main.work4", "GeckoMain", "Name:prog", "Pid:71", "torn"} {
		if !bytes.Contains(want, []byte(part)) {
			t.Errorf("%q is not in the output", part)
		}
	}
}
