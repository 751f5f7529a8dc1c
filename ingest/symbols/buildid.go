package symbols

import (
	"debug/elf"

	"gprof/rawformat/buildid"
)

// buildID names the build of a program as the recorder names it, if that is noted in
// it; else it is "", and the recorder takes [contentID].
func buildID(name string) (string, error) {
	f, err := elf.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return buildid.Noted(f), nil
}

// contentID names it by its content.
func contentID(name string) (string, error) {
	f, err := elf.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return buildid.Content(f)
}
