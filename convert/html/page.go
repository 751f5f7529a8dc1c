package html

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html"
	"io"
	"strings"

	"gprof/convert/internal/jsontext"
)

// The page and its parts. The script is both files: model.js computes and knows
// nothing of a page, page.js shows what was computed.
var (
	//go:embed page.html
	frame string
	//go:embed page.css
	style string
	//go:embed model.js
	model string
	//go:embed page.js
	view string
)

// writePage fills in what page.html leaves open, in the order of the page.
func (s *Sink) writePage() error {
	script := model + view
	rest := frame
	// upTo writes the page up to where something belongs, which it leaves out.
	upTo := func(name string) {
		var before string
		before, rest, _ = strings.Cut(rest, "{{"+name+"}}")
		io.WriteString(s.out, before)
	}
	upTo("policy")
	io.WriteString(s.out, "default-src 'none'; base-uri 'none'; form-action 'none'; style-src "+digest(style)+"; script-src "+digest(script))
	upTo("title")
	io.WriteString(s.out, html.EscapeString(strings.ToValidUTF8(s.caption.Title, "\uFFFD")))
	upTo("style")
	io.WriteString(s.out, style)
	upTo("data")
	out := jsontext.NewWriter(notMarkup{s.out})
	s.writeData(out)
	if err := out.Flush(); err != nil {
		return err
	}
	upTo("script")
	io.WriteString(s.out, script)
	_, err := io.WriteString(s.out, rest) // an error that came before is returned as well
	return err
}

// digest names a style or a script in a policy.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// notMarkup writes JSON that can't end the element it stands in: < is only
// found in strings, and can be written otherwise there.
type notMarkup struct{ w io.Writer }

func (n notMarkup) Write(p []byte) (int, error) {
	if _, err := n.w.Write(bytes.ReplaceAll(p, []byte("<"), []byte(`\u003c`))); err != nil {
		return 0, err
	}
	return len(p), nil
}
