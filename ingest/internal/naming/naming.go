// Package naming makes frames from a program's own tables, where the file that has the place names
// no function.
package naming

import (
	"strconv"
	"strings"

	"gprof/rawformat/callframe"
	"gprof/stream"
	"gprof/stream/gonames"
)

// Resolve names the functions at an offset in the file of a build, the outermost first, by calls of
// add; none if unknown. nil knows nothing.
type Resolve func(build string, offset uint64, add func(function, file string, line, start int32))

// Append appends the frames of the functions at an offset in the module of f, the outermost first,
// if known. f is a frame of that place, with the category of code other than Go. The caller locks
// t.
func (r Resolve) Append(frames []stream.FrameID, t *stream.Tables, f stream.Frame, offset uint64) []stream.FrameID {
	if r == nil || f.Module == 0 {
		return frames
	}
	build, native := t.Modules.At(f.Module).Build, f.Category
	if build == "" {
		return frames
	}
	r(build, offset, func(function, file string, line, start int32) {
		f.Function, f.File, f.Line, f.Start = t.Strings.Intern(function), t.Strings.Intern(file), line, start
		f.Category = native
		if gonames.FromGo(function, file) {
			f.Category = t.Categories.Intern(gonames.Category(function))
		}
		frames = append(frames, t.Frames.Intern(f))
		f.Depth++
	})
	return frames
}

// CallFrames says how the calls of a program's code are followed.
type CallFrames struct {
	Given bool             // the program is there
	Table *callframe.Table // nil: it has none
}

// Follow tells of a build how its calls are followed. nil knows nothing.
type Follow func(build string) CallFrames

// AtBoot is a kernel's build in one boot, with its text at an address. Its modules are elsewhere in
// each boot, so only a list of that boot names them.
func AtBoot(build string, text uint64) string { return build + "@" + strconv.FormatUint(text, 16) }

// CutBoot splits the result of AtBoot. It is not ok if build is none.
func CutBoot(build string) (kernel string, text uint64, ok bool) {
	kernel, at, ok := strings.Cut(build, "@")
	if !ok {
		return build, 0, false
	}
	text, err := strconv.ParseUint(at, 16, 64)
	return kernel, text, err == nil
}

// Module is the module of a file in t, known by its build id if it has one. If a recording has the same
// file, it is that one: recordings tell their modules before anything else is read.
func Module(t *stream.Tables, path, build string) stream.ModuleID {
	row := stream.Module{Build: build, Path: path, Name: BaseName(path)}
	if build == "" {
		return t.Modules.Intern(row)
	}
	if id := t.Modules.Lookup(row); id != 0 {
		return id
	}
	row.Path = ""
	return t.Modules.Intern(row)
}

// BaseName is the last element of a path of any system.
func BaseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
