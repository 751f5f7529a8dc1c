package chunks

import "gprof/rawformat"

// Exit is the record of an exit file; see [rawformat.KindExit].
type Exit struct {
	Monotonic   uint64 // ns
	Realtime    int64  // ns since the Unix epoch
	Reason      rawformat.ExitReason
	Code        int64
	Parent      uint64 // instance, 0 none
	ParentIndex uint64 // the parent's hand-out mark
	RangeStart  uint64
	RangeEnd    uint64
	Discarded   uint64 // chunks
	Text        string
}

// exitOf is the last exit record, nil if there is none.
func exitOf(records []Record) (exit *Exit) {
	for _, r := range records {
		c := r.Fields()
		e := Exit{Monotonic: c.Uint("monotonic"), Realtime: c.Sint("realtime"), Reason: rawformat.ExitReason(min(c.Uint("reason"), 255)),
			Code: c.Sint("code"), Parent: c.Fixed("parent"), ParentIndex: c.Uint("parent-index"),
			RangeStart: c.Uint("range-start"), RangeEnd: c.Uint("range-end"), Discarded: c.Uint("discarded"), Text: string(c.Text("text"))}
		if r.Kind == rawformat.KindExit && c.Err() == nil {
			exit = &e
		}
	}
	return exit
}

// appendExit appends the body of an exit record.
func appendExit(dst []byte, x *Exit) []byte {
	dst = rawformat.AppendUint(append(dst, byte(rawformat.KindExit)), x.Monotonic)
	dst = rawformat.AppendSint(dst, x.Realtime)
	dst = rawformat.AppendUint(dst, uint64(x.Reason))
	dst = rawformat.AppendSint(dst, x.Code)
	dst = rawformat.AppendFixed(dst, x.Parent)
	for _, v := range []uint64{x.ParentIndex, x.RangeStart, x.RangeEnd, x.Discarded} {
		dst = rawformat.AppendUint(dst, v)
	}
	return rawformat.AppendText(dst, x.Text)
}
