package ingest

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"regexp"
	"strings"
	"testing"
)

// slabbed is a profile of two samples as JSON, and as JsonSlabs, where the times
// are a list of floats.
func slabbed() (text, file []byte) {
	const profile = `{"meta":{"preprocessedProfileVersion":70,"version":36,"startTime":1780000000000,"interval":1},"libs":[],` +
		`"shared":{"stringArray":["f"],"stackTable":{"frame":[0],"prefixOffset":[0],"length":1},"frameTable":{"func":[0],"length":1},"funcTable":{"name":[0],"isJS":[false],"length":1}},` +
		`"threads":[{"name":"main","pid":"7","tid":8,"samples":{"stack":[0,0],"weight":null,"weightType":"samples","time":TIMES,"length":2}}]}`
	root := strings.Replace(profile, "TIMES", `{"$s":0}`, 1)
	file = []byte("\xdc\xdf\x4a\x53\x4c\x42\x01\x00")
	const begin = 8 + 3*4 + 2*3*4 + 4
	for _, n := range []int{1, 2, 1, 7, begin, 16, 10, begin + 16, len(root)} { // version, slabs, root; type, offset and length of each
		file = binary.LittleEndian.AppendUint32(file, uint32(n))
	}
	file, _ = binary.Append(append(file, 0, 0, 0, 0), binary.LittleEndian, []float64{1.5, 3})
	return []byte(strings.Replace(profile, "TIMES", "[1.5,3]", 1)), append(file, root...)
}

// A profile is the same as JSON, as JsonSlabs, compressed, and from a pipe.
func TestSlabs(t *testing.T) {
	dir := t.TempDir()
	text, file := slabbed()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(file)
	z.Close()
	instance := regexp.MustCompile(`Instance:\d+`) // a digest of the text, which has other spaces
	want := instance.ReplaceAllString(events(t, []string{writeFile(t, dir, "p.json", text)}, Options{}), "")
	if !strings.Contains(want, "1780000000001500000") {
		t.Fatalf("no samples in %s", want)
	}
	for name, data := range map[string][]byte{"p.jslb": file, "p.jslb.gz": packed.Bytes()} {
		for where, got := range map[string]string{
			"file": events(t, []string{writeFile(t, dir, name, data)}, Options{}),
			"pipe": events(t, []string{"-"}, Options{Stdin: bytes.NewReader(data), TempDir: dir}),
		} {
			if got := instance.ReplaceAllString(got, ""); got != want {
				t.Errorf("%s, %s: %s\nwant %s", name, where, got, want)
			}
		}
	}
}
