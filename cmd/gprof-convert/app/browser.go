package app

import (
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"runtime"

	"gprof/cmd/internal/output"
)

// errNoScreen says that a browser could only open in the terminal.
var errNoScreen = errors.New("no browser was opened: there is no screen here (DISPLAY and WAYLAND_DISPLAY are not set)")

// browse opens a URL in the person's browser, and does not wait for it. Other users of
// the machine see what a command is started with, and the URL holds a secret: so what
// is opened is a page that only this user can read, and that leads there. forget
// removes it.
func browse(set *output.Set, url string) (forget func(), err error) {
	open, err := screen()
	if err != nil {
		return nil, err
	}
	page, forget, err := set.TemporaryFile("gprof-view-*.html", fmt.Sprintf(leading, html.EscapeString(url)))
	if err != nil {
		return nil, fmt.Errorf("no browser was opened: %w", err)
	}
	open.Args = append(open.Args, page)
	if err := open.Start(); err != nil {
		forget()
		return nil, fmt.Errorf("no browser was opened: %w", err)
	}
	go open.Wait() // it may live as long as the browser
	return forget, nil
}

// leading is a page that leads to a URL.
const leading = `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>gprof</title>
<meta http-equiv="refresh" content="0; url=%[1]s">
<p><a href="%[1]s">The recording</a> is opened.
`

// screen is the command that opens pages on the screen that there is.
func screen() (*exec.Cmd, error) {
	name, args := opener()
	if name == "xdg-open" && os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return nil, errNoScreen
	}
	return exec.Command(name, args...), nil
}

// opener is the system's command that opens what it is given.
func opener() (name string, args []string) {
	switch runtime.GOOS {
	case "darwin":
		return "open", nil
	case "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler"}
	}
	return "xdg-open", nil
}
