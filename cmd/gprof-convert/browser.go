package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// errNoScreen says that a browser could only open in the terminal.
var errNoScreen = errors.New("no browser was opened: there is no screen here (DISPLAY and WAYLAND_DISPLAY are not set)")

// browse opens a URL in the person's browser, and does not wait for it.
func browse(url string) error {
	name, args := opener()
	if name == "xdg-open" && os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return errNoScreen
	}
	cmd := exec.Command(name, append(args, url)...)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("no browser was opened: %w", err)
	}
	go cmd.Wait() // it may live as long as the browser
	return nil
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
