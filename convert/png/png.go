// Package png draws a still of the flame graph of a run as pixels: for whatever
// shows no SVG, such as chats, tickets and slides.
//
// It is the picture of package svg: 1,600 pixels wide, the root at the top, all
// tracks of all processes in one graph, weighed by samples. Texts are drawn with
// the Go fonts, which are part of the program, so that the picture is the same
// on every machine. A letter that those fonts lack, as of Chinese or an emoji,
// stands there as Go would escape it: \u51fd.
//
// Title, range of time, processes and losses are texts of the file, too (the
// keywords Title and Description), for who searches or can't see.
//
// The picture leaves out boxes narrower than half a pixel and rows below the
// 150th, which its last line says; CPU time; and everything but samples, which
// the ledger says.
package png

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"strings"

	"gprof/convert/internal/flame"
	"gprof/convert/internal/pipeline"
)

// Sink draws one picture.
type Sink struct {
	flame.Still
	out *pipeline.Writer
}

// New returns a Sink that writes to w, and closes it at the end.
func New(w *pipeline.Writer) *Sink { return &Sink{out: w} }

// Close draws the picture and adds what has no place in it to the ledger.
func (s *Sink) Close() error {
	data, err := Paint(s.Picture)
	if err != nil {
		return err
	}
	s.out.Write(data)
	s.Tell()
	return s.out.Close()
}

// Paint returns the file of a picture that is laid out with a font.
func Paint(layOut func(flame.Font) *flame.Picture) ([]byte, error) {
	fonts, err := newTypefaces()
	if err != nil {
		return nil, err
	}
	p := layOut(fonts)
	return encode(paint(p, fonts), p)
}

// headerEnd is the offset of the first chunk after the header in a PNG file.
const headerEnd = 8 + 12 + 13

// encode returns a PNG file with the picture's words as texts.
func encode(m image.Image, p *flame.Picture) ([]byte, error) {
	var out bytes.Buffer
	if err := png.Encode(&out, m); err != nil {
		return nil, err
	}
	file := out.Bytes()
	texts := appendText(nil, "Title", p.Title)
	texts = appendText(texts, "Description", description(p))
	return append(append(file[:headerEnd:headerEnd], texts...), file[headerEnd:]...), nil
}

// description is all lines except the title.
func description(p *flame.Picture) string {
	var lines []string
	for _, line := range p.Lines {
		if line.Style != flame.TitleStyle {
			lines = append(lines, line.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// appendText adds an uncompressed UTF-8 text chunk (iTXt) without a language. It can't contain
// zeros.
func appendText(dst []byte, keyword, text string) []byte {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\ufffd")
	body := "iTXt" + keyword + "\x00" + "\x00\x00" + "\x00" + "\x00" + text
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(body)-len("iTXt")))
	dst = append(dst, body...)
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE([]byte(body)))
}
