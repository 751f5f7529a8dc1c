package main

import (
	"fmt"
	"os/exec"
	"path/filepath"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/launch"
	"gprof/recorder/attach"
)

// sample runs the command and has the kernel sample it from its first instruction on. The
// command also runs if the kernel refuses.
func (c *runCmd) sample(s *tool) error {
	options, err := c.options(c.Dir, filepath.Base(c.Command[0]), c.Limit)
	if err != nil {
		return err
	}
	var sampler *attach.Sampler
	status, end, err := launch.Run(s.command(c.Command), func(cmd *exec.Cmd) error {
		return launch.StartStopped(cmd, func(pid int) { sampler = s.attach(pid, options) })
	})
	if err != nil {
		return err
	}
	if sampler != nil {
		err = s.finish(sampler, ending{options.Session, c.Pack, &end})
	}
	if status != 0 {
		return console.Exit(status, nil)
	}
	return err
}

// attach samples our child; if that is refused it prints so and returns nil.
func (s *tool) attach(pid int, o attach.Options) *attach.Sampler {
	o.Child = pid
	sampler, err := attach.Start([]int{pid}, o)
	if err != nil {
		s.Warn(fmt.Errorf("not sampled: %v", err))
		s.hint(err)
		return nil
	}
	s.note(sampler)
	return sampler
}
