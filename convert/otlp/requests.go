package otlp

import (
	"bytes"
)

// requests are the messages of an output that is several.
type requests struct {
	limit   int64
	send    func(message []byte) error
	message bytes.Buffer // without its dictionary
	sent    int
	err     error // of the first that could not be sent
}

// NewRequests returns a Sink that gives its output to send, as requests to export profiles. Each has about as
// many bytes as limit says, at most, and is valid until send returns. After an error no more are
// sent, and the Sink returns it.
func NewRequests(limit int64, spillDir string, send func(message []byte) error) *Sink {
	s := spilling(spillDir)
	s.requests = &requests{limit: limit, send: send}
	s.form, s.end = &protoForm{out: &s.requests.message}, s.request
	return s
}

// Sizes that rows of the dictionary have as a rule, whose texts and code are not known before it is
// finished: names and files of functions are long in Go.
const (
	sizeOfPlace = 160
	sizeOfText  = 24
)

// split ends a request that is about as large as it may be.
func (s *Sink) split() {
	r := s.requests
	if r == nil || r.err != nil {
		return
	}
	size := int64(r.message.Len()) + int64(s.locations.Len())*sizeOfPlace + int64(len(s.texts.All()))*sizeOfText
	for i := range s.profiles {
		size += s.profiles[i].size
	}
	for _, p := range s.parts {
		size += p.size
	}
	if size < r.limit {
		return
	}
	s.writeProcess()
	s.form.dictionary(s.dictionary.finish())
	r.err = s.request()
	s.codeFile.Reset()
	s.dictionary = newDictionary(s.tables, s.codeFile)
}

// request sends what was written.
func (s *Sink) request() error {
	r := s.requests
	if r.err != nil {
		return r.err
	}
	err := r.send(r.message.Bytes())
	r.sent++
	r.message.Reset()
	return err
}
