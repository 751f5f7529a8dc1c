module gprof/recorder

go 1.26.0

require (
	golang.org/x/sys v0.49.0
	gprof/chunks v0.0.0
	gprof/rawformat v0.0.0
)

replace (
	gprof/chunks => ../chunks
	gprof/rawformat => ../rawformat
)
