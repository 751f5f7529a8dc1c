package png

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"strings"

	"gprof/convert/internal/flame"
)

// headerEnd is where the first chunk of a PNG file ends: behind the signature and
// a header of 13 bytes.
const headerEnd = 8 + 12 + 13

// encode returns a PNG file with the words of the picture as texts.
func encode(m image.Image, p *flame.Picture) ([]byte, error) {
	var out bytes.Buffer
	if err := png.Encode(&out, m); err != nil {
		return nil, err
	}
	file := out.Bytes()
	texts := appendText(nil, "Title", "Flame graph of "+p.Caption.Title)
	texts = appendText(texts, "Description", description(p))
	return append(append(file[:headerEnd:headerEnd], texts...), file[headerEnd:]...), nil
}

// description is all lines but the title.
func description(p *flame.Picture) string {
	var lines []string
	for _, line := range p.Lines {
		if line.Style != flame.TitleStyle {
			lines = append(lines, line.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// appendText adds a chunk with a text in UTF-8 (iTXt), not compressed and in no
// language that is said. It can't hold zeros.
func appendText(dst []byte, keyword, text string) []byte {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\ufffd")
	body := "iTXt" + keyword + "\x00" + "\x00\x00" + "\x00" + "\x00" + text
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(body)-len("iTXt")))
	dst = append(dst, body...)
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE([]byte(body)))
}
