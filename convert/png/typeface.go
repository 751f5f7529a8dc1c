package png

import (
	"fmt"
	"image"
	"unicode"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"gprof/convert/internal/flame"
)

// looks are the fonts and sizes of styles, in pixels.
var looks = [flame.NumStyles]struct {
	ttf  []byte
	size float64
}{
	flame.TitleStyle:  {gobold.TTF, 24},
	flame.FactStyle:   {goregular.TTF, 14},
	flame.LossStyle:   {goregular.TTF, 14},
	flame.LegendStyle: {goregular.TTF, 12.5},
	flame.NameStyle:   {gomono.TTF, 11.5},
}

// typefaces draw and measure texts.
type typefaces [flame.NumStyles]*typeface

type typeface struct {
	font    *sfnt.Font
	face    font.Face
	buf     sfnt.Buffer
	letters map[rune]letter
}

// letter is the drawing of a rune.
type letter struct {
	glyphs  []rune // itself, or what stands for it
	advance fixed.Int26_6
}

func newTypefaces() (*typefaces, error) {
	var all typefaces
	for s, look := range looks {
		f, err := opentype.Parse(look.ttf)
		if err != nil {
			return nil, err
		}
		// At 72 dots per inch a point is a pixel.
		face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: look.size, DPI: 72, Hinting: font.HintingNone})
		if err != nil {
			return nil, err
		}
		all[s] = &typeface{font: f, face: face, letters: make(map[rune]letter)}
	}
	return &all, nil
}

// Width implements [flame.Font].
func (t *typefaces) Width(s flame.Style, text string) float64 {
	var sum fixed.Int26_6
	for _, r := range text {
		sum += t[s].letter(r).advance
	}
	return float64(sum) / 64
}

// letter returns the drawing of r.
func (t *typeface) letter(r rune) letter {
	l, ok := t.letters[r]
	if ok {
		return l
	}
	l.glyphs = []rune{r}
	if !t.has(r) {
		l.glyphs = []rune(escape(r))
	}
	for _, g := range l.glyphs {
		advance, _ := t.face.GlyphAdvance(g)
		l.advance += advance
	}
	t.letters[r] = l
	return l
}

func (t *typeface) has(r rune) bool {
	i, err := t.font.GlyphIndex(&t.buf, r)
	return err == nil && i != 0 && unicode.IsPrint(r)
}

// escape is a rune in Go's escaped form.
func escape(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// draw calls put with the masks of a text's letters, which begins at x on the baseline y. A mask is
// valid until put returns.
func (t *typeface) draw(x, y float64, text string, put func(at image.Rectangle, mask *image.Alpha, from image.Point)) {
	dot := fixed.Point26_6{X: fixed.Int26_6(x * 64), Y: fixed.Int26_6(y * 64)}
	for _, r := range text {
		for _, g := range t.letter(r).glyphs {
			at, mask, from, advance, _ := t.face.Glyph(dot, g)
			if alpha, ok := mask.(*image.Alpha); ok {
				put(at, alpha, from)
			}
			dot.X += advance
		}
	}
}
