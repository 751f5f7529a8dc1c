package gecko

import "gprof/ingest/internal/jsonfile"

// texts is a list of strings, by number.
type texts struct {
	data []byte
	ends []int
	odd  []int64 // where values stand that are no strings, the first ones
}

// maxOdd is how many of them are told.
const maxOdd = 1000

// len is how many there are.
func (x *texts) len() int { return len(x.ends) }

// at is the string of a number; it must not be changed.
func (x *texts) at(i int) []byte {
	begin := 0
	if i > 0 {
		begin = x.ends[i-1]
	}
	return x.data[begin:x.ends[i]]
}

// cell is the string that a cell means, which holds its number.
func (x *texts) cell(raw []byte) ([]byte, bool) {
	i, ok := jsonfile.Int(raw)
	if !ok || i < 0 || i >= int64(x.len()) {
		return nil, false
	}
	return x.at(int(i)), true
}

// bytes is how much memory x takes.
func (x *texts) bytes() int64 { return int64(cap(x.data)) + 8*int64(cap(x.ends)) }

// texts reads a list of strings. What is no string is an empty one. full is
// asked now and then whether to stop.
func (f *file) texts(v *jsonfile.Value, full func(bytes int64) bool) (*texts, error) {
	x := new(texts)
	if !v.Is(jsonfile.Array) {
		return x, nil
	}
	s := f.at(v)
	for s.Array(); s.More(); {
		off := s.Off()
		raw := s.Raw()
		if len(raw) > 0 && raw[0] != '"' && len(x.odd) < maxOdd {
			x.odd = append(x.odd, off)
		}
		x.data = jsonfile.AppendText(x.data, raw)
		x.ends = append(x.ends, len(x.data))
		if x.len()%1024 == 0 && full(x.bytes()) {
			break
		}
	}
	return x, s.Err()
}
