package main

import (
	"encoding/json"
	"io"

	"github.com/bytedance/sonic"
	"github.com/klauspost/compress/gzip"

	"gprof/stream"
)

func standardJSON(w io.Writer, value any) error { return json.NewEncoder(w).Encode(value) }

func sonicJSON(w io.Writer, value any) error { return sonic.ConfigDefault.NewEncoder(w).Encode(value) }

// marshal writes the profile of a session, compressed at level 1 by the same
// library that we use.
func marshal(sink func(io.Writer, encode) stream.Sink, e encode) work {
	return func(session string) (said, error) {
		var c counter
		packed, err := gzip.NewWriterLevel(&c, 1)
		if err != nil {
			return said{}, err
		}
		if err := copyTo(sink(packed, e), session); err != nil {
			return said{}, err
		}
		err = packed.Close()
		return said{Bytes: c.bytes}, err
	}
}

// The payloads of the markers that a corpus has.
type (
	whose struct {
		Goroutine int64 `json:"goroutine,omitempty"`
	}
	flush struct {
		Type  string `json:"type"`
		Size  int64  `json:"size"`
		Pages uint64 `json:"pages"`
		whose
	}
	request struct {
		Type   string `json:"type"`
		Path   string `json:"path"`
		Status uint64 `json:"status"`
		whose
	}
)

// typedPayload is the payload of row i as a struct.
func typedPayload(event *stream.Event, b *stream.Batch, i int) any {
	of := whose{b.Owner(i).Goroutine}
	if event.Name == "flush" {
		return &flush{event.Name, int64(b.Args[0].BitsAt(i)), b.Args[1].BitsAt(i), of}
	}
	return &request{event.Name, string(b.Args[0].TextAt(i)), b.Args[1].BitsAt(i), of}
}
