package protobuf_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gprof/rawformat/protobuf"
)

// Numbers of any length, among fields of other kinds, are those that reading field by field finds, wherever a message is cut.
func TestNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	damaged := 0
	for range 2000 {
		var body []byte
		for range r.IntN(6) {
			switch field, n := 1+r.IntN(18), r.Uint64()>>r.IntN(64); r.IntN(8) {
			case 0:
				body = protobuf.AppendBytes(body, field, "text")
			case 1:
				body = protobuf.AppendFixed64(body, field, n)
			case 2:
				body = protobuf.AppendValue(body, field, 0)
			case 3:
				body = protobuf.AppendNumber(body, field, math.MaxUint64)
			default:
				body = protobuf.AppendNumber(body, field, n)
			}
		}
		for n := range len(body) + 1 {
			var got, want protobuf.Numbers
			m := protobuf.Message{Rest: body[:n]}
			for v, ok := m.Read(); ok; v, ok = m.Read() {
				want.Set(v)
			}
			if ok := got.Read(body[:n]); got != want || ok == m.Bad {
				t.Fatalf("%d of %x: %v, %v; want %v, %v", n, body, got, ok, want, !m.Bad)
			}
			if m.Bad {
				damaged++
			}
		}
	}
	if damaged == 0 {
		t.Error("no message was damaged")
	}
}
