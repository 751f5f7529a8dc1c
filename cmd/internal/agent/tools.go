package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// where narrows what a tool looks at; see [instructions].
type where struct {
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
	Last    string `json:"last,omitempty"`
	Process string `json:"process,omitempty"`
	Track   string `json:"track,omitempty"`
	During  string `json:"during,omitempty"`
	Trace   string `json:"trace,omitempty"`
}

// flags are those of a command.
func (w where) flags() (args []string) {
	for _, f := range []struct{ name, value string }{
		{"from", w.From}, {"to", w.To}, {"last", w.Last}, {"process", w.Process}, {"track", w.Track}, {"during", w.During}, {"trace", w.Trace},
	} {
		if f.value != "" {
			args = append(args, "--"+f.name+"="+f.value)
		}
	}
	return args
}

type openInput struct {
	Paths []string `json:"paths"`
}

func (s *server) open(ctx context.Context, in openInput) (string, error) {
	if err := s.allow(in.Paths); err != nil {
		return "", err
	}
	r := recording{paths: in.Paths}
	text, err := s.command(ctx, []recording{r}, append([]string{"info", "--"}, in.Paths...))
	if err != nil {
		return "", err
	}
	return "recording " + s.recordings.add(r) + "\n" + text, nil
}

type whyInput struct {
	Recording string `json:"recording"`
	where
}

func (s *server) why(ctx context.Context, in whyInput) (string, error) {
	return s.ask(ctx, in.Recording, append([]string{"why"}, in.flags()...))
}

type topInput struct {
	Recording string `json:"recording"`
	By        string `json:"by,omitempty" jsonschema:"function, package, file, line, category, module, track, process, marker, counter"`
	Of        string `json:"of,omitempty" jsonschema:"cpu, samples, heap, allocations, waits"`
	N         int    `json:"n,omitempty"`
	where
}

func (s *server) top(ctx context.Context, in topInput) (string, error) {
	args := append([]string{"top"}, in.flags()...)
	return s.ask(ctx, in.Recording, append(args, optional("by", in.By), optional("of", in.Of), number("rows", in.N)))
}

type slowInput struct {
	Recording string `json:"recording"`
	Markers   string `json:"markers" jsonschema:"such as http.request[duration>p99]"`
	where
}

func (s *server) slow(ctx context.Context, in slowInput) (string, error) {
	return s.ask(ctx, in.Recording, append([]string{"slow"}, in.flags()...), in.Markers)
}

type diffInput struct {
	Base string `json:"base"`
	New  string `json:"new"`
	Of   string `json:"of,omitempty" jsonschema:"as of top"`
	N    int    `json:"n,omitempty"`
	where
}

func (s *server) diff(ctx context.Context, in diffInput) (string, error) {
	base, err := s.recordings.get(in.Base)
	if err != nil {
		return "", err
	}
	with, err := s.recordings.get(in.New)
	if err != nil {
		return "", err
	}
	args := append([]string{"diff", optional("of", in.Of), number("rows", in.N)}, in.flags()...)
	for _, p := range base.paths {
		args = append(args, "--base="+p)
	}
	for _, p := range with.paths {
		args = append(args, "--new="+p)
	}
	return s.command(ctx, []recording{base, with}, args)
}

type queryInput struct {
	Recording string `json:"recording,omitempty"`
	What      string `json:"what,omitempty" jsonschema:"NAME or NAME[FIELD>=VALUE]; * stands for characters"`
	By        string `json:"by,omitempty" jsonschema:"longest, last, first"`
	N         int    `json:"n,omitempty"`
	More      string `json:"more,omitempty" jsonschema:"of an answer that was cut"`
	where
}

func (s *server) query(ctx context.Context, in queryInput) (string, error) {
	if in.More != "" {
		return s.answers.next(in.More)
	}
	if in.What == "" {
		return "", errors.New("what is missing: a name, such as http.request, or * for all")
	}
	args := append([]string{"list"}, in.flags()...)
	return s.ask(ctx, in.Recording, append(args, optional("by", in.By), number("rows", in.N)), in.What)
}

func optional(flag, value string) string {
	if value == "" {
		return ""
	}
	return "--" + flag + "=" + value
}

func number(flag string, n int) string {
	if n <= 0 {
		return ""
	}
	return optional(flag, strconv.Itoa(n))
}

// ask runs a command on a recording. The words come before its inputs.
func (s *server) ask(ctx context.Context, handle string, flags []string, words ...string) (string, error) {
	r, err := s.recordings.get(handle)
	if err != nil {
		return "", err
	}
	args := append(append(append(flags, "--"), words...), r.paths...)
	return s.command(ctx, []recording{r}, args)
}

// maxWord bounds a word of a command line, of which the system refuses long ones.
const maxWord = 1 << 15

// command runs a command, in which words may be empty, and cuts what it prints.
func (s *server) command(ctx context.Context, of []recording, args []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case s.running <- struct{}{}:
		defer func() { <-s.running }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	words := []string{args[0]}
	for _, a := range append(slices.Clone(s.Flags), args[1:]...) {
		if len(a) > maxWord {
			return "", fmt.Errorf("%s… has %d characters, of %d at most", cut(a, 20), len(a), maxWord)
		}
		if a != "" {
			words = append(words, a)
		}
	}
	done := s.Run(ctx, words)
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("%s was ended: %w; ask for less, as with last", words[0], err)
	}
	out, told := shorten(done.Out, of), strings.ReplaceAll(shorten(done.Err, of), "gprof-convert: ", "")
	if done.Code != 0 && strings.TrimSpace(out) == "" {
		return "", errors.New(cut(told, maxAnswer))
	}
	return s.answers.first(told, out), nil
}
