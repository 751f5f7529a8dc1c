package gecko

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"

	"gprof/ingest/internal/jsonfile"
)

// ErrFolded says that parts of a profile are JSON within strings, which [Profile.Unfold] takes out.
var ErrFolded = errors.New("has JSON within texts")

// fold is where such a string is, without its quotes.
type fold struct{ from, to int64 }

// folds appends the folds of a process and of processes among its threads, which are there until
// Gecko 4. Until Gecko 3 the list of libraries is folded, too.
func (l *layout) folds(all []fold, v *jsonfile.Value) []fold {
	all = l.fold(all, v.Get("libs"))
	for i, threads := 0, threadsOf(v); i < len(threads); i++ {
		all = l.fold(all, &threads[i])
		if isProcess(&threads[i]) {
			all = l.folds(all, &threads[i])
		}
	}
	return all
}

// fold appends v if it is a fold.
func (l *layout) fold(all []fold, v *jsonfile.Value) []fold {
	if !v.Is(jsonfile.String) {
		return all
	}
	f := fold{v.Off + 1, l.file.size} // if it is cut short
	s := l.file.at(v)
	if s.Skip(); s.Err() == nil {
		f.to = s.Off() - 1
	}
	return append(all, f)
}

// isProcess reports whether an element of threads is a process.
func isProcess(v *jsonfile.Value) bool { return v.Get("threads") != nil }

// Unfold returns the text of the profile with its folds expanded. There may be folds in these, so
// it has to be opened the same way; it gets shorter each time. The file must stay open.
func (p *Profile) Unfold() io.Reader {
	slices.SortFunc(p.folds, func(a, b fold) int { return cmp.Compare(a.from, b.from) })
	return &unfolder{file: p.file, folds: p.folds, part: bytes.NewReader(nil)}
}

// unfolder reads the text before each fold and the fold's contents in turn.
type unfolder struct {
	file  *file
	folds []fold // that are ahead
	at    int64
	part  io.Reader
	over  bool
}

// Read implements [io.Reader].
func (u *unfolder) Read(p []byte) (int, error) {
	for {
		n, err := u.part.Read(p)
		if n > 0 || err != io.EOF || u.over {
			return n, err
		}
		u.part = u.next()
	}
}

func (u *unfolder) next() io.Reader {
	to := u.file.size
	if len(u.folds) > 0 {
		to = u.folds[0].from - 1
	}
	if u.over = to == u.file.size; u.at < to || u.over {
		part := io.NewSectionReader(u.file.r, u.at, to-u.at)
		u.at = to
		return part
	}
	f := u.folds[0]
	u.folds, u.at = u.folds[1:], min(f.to+1, u.file.size)
	return &unescaper{in: bufio.NewReader(io.NewSectionReader(u.file.r, f.from, f.to-f.from))}
}

// longestEscape is a surrogate pair.
const longestEscape = len(`\ud83d\ude00`)

// unescaper is the contents of a string.
type unescaper struct {
	in   *bufio.Reader
	said []byte // decoded, not read yet
}

// Read implements [io.Reader].
func (u *unescaper) Read(p []byte) (int, error) {
	if len(u.said) == 0 {
		text, err := u.in.Peek(max(longestEscape, u.in.Buffered()))
		if len(text) == 0 {
			return 0, err
		}
		i := bytes.IndexByte(text, '\\')
		if i < 0 || len(text) == 1 { // one at the end of a file that is cut short
			i = len(text)
		}
		if i > 0 {
			return u.in.Read(p[:min(len(p), i)])
		}
		said, rest := jsonfile.AppendEscape(u.said, text[1:])
		u.said = said
		u.in.Discard(len(text) - len(rest)) // was read
	}
	n := copy(p, u.said)
	u.said = u.said[:copy(u.said, u.said[n:])]
	return n, nil
}
