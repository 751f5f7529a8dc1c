package launch

import (
	"debug/buildinfo"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// maxWords is the most words of a command line that are searched for the program.
const maxWords = 64

// Program is the base name of the program of a command line that will record: the first
// Go program with the recorder in it. Others, such as timeout, env, nice or a shell, may
// precede it. If there is none it is the command itself.
func Program(command []string) string {
	var words []string
	for _, arg := range command {
		words = append(words, arg)
		if fields := strings.Fields(arg); len(fields) > 1 { // perhaps of sh -c
			words = append(words, fields...)
		}
	}
	for _, word := range words[:min(len(words), maxWords)] {
		if path, err := exec.LookPath(word); err == nil && hasRecorder(path) {
			return filepath.Base(path)
		}
	}
	return filepath.Base(command[0])
}

// hasRecorder reports whether a file is a Go program that was built with a package of
// this command's module.
func hasRecorder(path string) bool {
	self, ok := debug.ReadBuildInfo()
	if !ok {
		return false
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return false // no Go program
	}
	ours := func(module string) bool {
		return module == self.Main.Path || strings.HasPrefix(module, self.Main.Path+"/")
	}
	for _, dep := range info.Deps {
		if ours(dep.Path) {
			return true
		}
	}
	return ours(info.Main.Path)
}
