// Esbuild is the bundler of that name, which records itself if GPROF=on.
package main

import (
	"os"

	"github.com/evanw/esbuild/pkg/cli"

	_ "gprof/recorder/auto"
)

func main() { os.Exit(cli.Run(os.Args[1:])) }
