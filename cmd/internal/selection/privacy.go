package selection

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"gprof/cmd/internal/console"
	"gprof/stream/redact"
)

// Privacy are the flags for what must not be readable in an output. All commands that
// read events have them.
type Privacy struct {
	Redact    redaction `placeholder:"KIND[:HOW],..." help:"Make unreadable what a recording may reveal. Alone it drops secrets and hashes the rest; --redact=KIND[:HOW],... says of which kinds: secret, user, url, path, name or all; and how: keep, hash or drop."`
	RedactKey string    `type:"path" placeholder:"FILE" help:"Key of the hashes, 16 bytes or more: outputs that are made with one key have equal hashes for equal values. Without it each run has a key of its own."`

	key []byte
}

// minKey is the least length of a key in bytes, so that nobody can try all keys.
const minKey = 16

// Prepare reads the key, before anything else is read. There is one for a run.
func (r *Privacy) Prepare() error {
	switch {
	case r.key != nil:
	case r.RedactKey == "" && r.Redact.hashes():
		r.key = make([]byte, sha256.Size)
		rand.Read(r.key) // never fails
	case r.RedactKey != "" && !r.Redact.Given:
		return console.Exit(console.Usage, errors.New("--redact-key without --redact does nothing; add --redact"))
	case r.RedactKey != "":
		key, err := os.ReadFile(r.RedactKey)
		if err == nil && len(key) < minKey {
			err = fmt.Errorf("%s: a key of %d bytes can be guessed; make one with: head -c 32 /dev/urandom >%s", r.RedactKey, len(key), r.RedactKey)
		}
		if err != nil {
			return console.Exit(console.Usage, fmt.Errorf("--redact-key: %w", err))
		}
		r.key = key
	}
	return nil
}

// Lasting refuses hashes that another run could not repeat, because a batch that goes on
// would mix them.
func (r *Privacy) Lasting() error {
	if r.Redact.hashes() && r.RedactKey == "" {
		return console.Exit(console.Usage, errors.New("a batch goes on where it stopped, and then hashes must be the same: add --redact-key FILE (head -c 32 /dev/urandom >FILE), or drop what you would hash: --redact=all:drop"))
	}
	return nil
}

// Settings describes the flags without anything that helps to guess the key.
func (r *Privacy) Settings() string {
	if !r.Redact.Given {
		return ""
	}
	var text strings.Builder
	for _, k := range redactionKinds {
		for name, how := range redactionHows {
			if how == *k.of(&r.Redact.how) {
				fmt.Fprintf(&text, "%s:%s,", k.name, name)
			}
		}
	}
	return fmt.Sprintf("%skey:%s", text.String(), fingerprint(r.key))
}

// Fingerprint tells keys apart, and helps nobody to guess one; "" without a key. Prepare reads it.
func (r *Privacy) Fingerprint() string {
	if r.key == nil {
		return ""
	}
	return fingerprint(r.key)
}

func fingerprint(key []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(append([]byte("fingerprint of "), key...)))
}

// redaction is the value of --redact.
type redaction struct {
	Given bool
	how   redact.Options
}

// redactAll is the meaning of --redact alone: secrets are not even told apart.
var redactAll = redact.Options{Secrets: redact.Drop, Users: redact.Hash, URLs: redact.Hash, Paths: redact.Hash, Names: redact.Hash}

func (r *redaction) hashes() bool {
	for _, k := range redactionKinds {
		if *k.of(&r.how) == redact.Hash {
			return true
		}
	}
	return false
}

// redactionKinds are the words of --redact.
var redactionKinds = []struct {
	name string
	of   func(*redact.Options) *redact.Action
}{
	{"secret", func(r *redact.Options) *redact.Action { return &r.Secrets }},
	{"user", func(r *redact.Options) *redact.Action { return &r.Users }},
	{"url", func(r *redact.Options) *redact.Action { return &r.URLs }},
	{"path", func(r *redact.Options) *redact.Action { return &r.Paths }},
	{"name", func(r *redact.Options) *redact.Action { return &r.Names }},
}

var redactionHows = map[string]redact.Action{"keep": redact.Keep, "hash": redact.Hash, "drop": redact.Drop}

// Decode reads the flag with or without a value. Kong calls it.
func (r *redaction) Decode(ctx *kong.DecodeContext) error {
	text := "all"
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		text = ctx.Scan.Pop().String()
	}
	r.Given = true
	for _, word := range strings.Split(text, ",") {
		if err := r.add(word); err != nil {
			return err
		}
	}
	return nil
}

// IsBool makes the value optional. Kong calls it.
func (r *redaction) IsBool() bool { return true }

// add adds KIND or KIND:HOW.
func (r *redaction) add(word string) error {
	kind, howWord, explicit := strings.Cut(word, ":")
	how, known := redactionHows[howWord]
	if explicit && !known {
		return fmt.Errorf("%q: want keep, hash or drop behind the colon, as in path:hash", word)
	}
	known = false
	for _, k := range redactionKinds {
		if kind != k.name && kind != "all" {
			continue
		}
		known = true
		if !explicit {
			how = *k.of(&redactAll)
		}
		*k.of(&r.how) = how
	}
	if !known {
		return fmt.Errorf("%q: want one of secret, user, url, path, name or all, as in --redact=secret,user:drop,path:hash", word)
	}
	return nil
}

// Raw are the flags that commands refuse which copy or show the bytes of a recording,
// because bytes can't be redacted.
type Raw struct {
	Redact rawRedaction `hidden:"" help:"Refused: bytes of a recording can't be redacted."`
}

type rawRedaction struct{}

// Decode refuses the flag. Kong calls it.
func (rawRedaction) Decode(*kong.DecodeContext) error {
	return errors.New("this command gives the bytes of a recording as they are, which can't be redacted; convert them instead: gprof-convert INPUT --redact -o OUT")
}

// IsBool: see [redaction.IsBool].
func (rawRedaction) IsBool() bool { return true }
