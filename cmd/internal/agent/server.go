// Package agent answers programs that ask about recordings, such as assistants: it is a server of the Model
// Context Protocol (https://modelcontextprotocol.io). Its tools are commands of gprof-convert, run as
// processes of their own, so that one that takes long can be ended, and takes its memory along.
//
// What an assistant reads costs it room and money. So there are few tools, their descriptions are short, and
// an answer is cut after so many tokens; the rest can be asked for.
package agent

import (
	"context"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options are those of [Serve].
type Options struct {
	Version string
	Run     func(ctx context.Context, args []string) Result // a command
	Flags   []string                                        // of each command
	Roots   []string                                        // only what lies below is read; none: all that the user may read
	Remote  bool                                            // buckets and URLs are read, too
}

// Result is what a command printed.
type Result struct {
	Out, Err string
	Code     int // its exit code, below 0 if it was ended
}

// patience is how long a command may take.
const patience = 10 * time.Minute

// atOnce is how many commands run at a time: each may take the memory that --mem allows.
const atOnce = 2

// server is what the tools share.
type server struct {
	Options
	recordings recordings
	answers    answers
	running    chan struct{} // a place for each command
}

// instructions are read by the assistant before it sees the tools.
const instructions = `Recordings of programs: CPU samples, markers, counters, heap. open gives a handle; then why. Narrow by from/to/last (RFC 3339, +10s after the start, -5s before the end; 30s), process (pid, service), track, during (markers: 'http.request[duration>100ms, status>=500]'), trace (id).`

// Serve answers what is asked on in until it ends, or ctx does.
func Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser, o Options) error {
	s := &server{Options: o, running: make(chan struct{}, atOnce)}
	protocol := mcp.NewServer(&mcp.Implementation{Name: "gprof", Version: o.Version}, &mcp.ServerOptions{
		Instructions: instructions,
		Capabilities: &mcp.ServerCapabilities{}, // the tools don't change, and nothing is logged
	})
	add(protocol, "open", "Open recordings: directories, archives, .gprof, pprof, perf.data, Go traces, Firefox profiles, and patterns of them. Returns a handle, and what they hold.", s.open)
	add(protocol, "why", "Why it died or became slow: findings with evidence, the surest first.", s.why)
	add(protocol, "top", "What took most: CPU, heap, allocations or waits, by function or else. By marker: how often and how long; by counter: its values.", s.top)
	add(protocol, "slow", "Why the slow markers are slow: where their time went, beside the others.", s.slow)
	add(protocol, "diff", "What changed between two recordings, with errors; several processes a side are needed.", s.diff)
	add(protocol, "query", "Single markers with their fields, and the course of counters, by name; or the rest of an answer.", s.query)
	return protocol.Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
}

// add adds a tool that only reads. An error is part of the answer.
func add[In any](protocol *mcp.Server, name, about string, call func(context.Context, In) (string, error)) {
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true}
	mcp.AddTool(protocol, &mcp.Tool{Name: name, Description: about, Annotations: reads}, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		text, err := call(ctx, in)
		if err != nil {
			return nil, nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	})
}
