package chunks

import (
	"errors"
	"io/fs"
	"slices"
	"strconv"

	"gprof/chunks/folder"
	"gprof/rawformat"
)

const metaName = "meta"

// rangeKeys are those of meta that a ring writes.
var rangeKeys = []string{rawformat.MetaRangeStart, rawformat.MetaDiscarded}

// noteRange notes a range start, and how many chunks were discarded, in meta, which
// whoever made the folder has written.
func noteRange(in folder.Folder, start uint64, discarded uint32) error {
	f, pr := probeRecords(in, metaName, rawformat.MagicMeta)
	if f == nil {
		return errors.Join(fs.ErrNotExist, pr.err)
	}
	var bodies [][]byte
	for _, r := range f.records(func(Problem) {}) {
		if key := r.Fields(); !slices.Contains(rangeKeys, string(key.Text("key"))) {
			bodies = append(bodies, append([]byte{byte(r.Kind)}, r.Body...))
		}
	}
	for i, v := range []uint64{start, uint64(discarded)} {
		body := rawformat.AppendText([]byte{byte(rawformat.KindMeta)}, rangeKeys[i])
		bodies = append(bodies, rawformat.AppendText(body, strconv.FormatUint(v, 10)))
	}
	return WriteRecords(in, metaName, f.header, bodies...)
}
