module gprof/chunks

go 1.26.0

require (
	golang.org/x/sys v0.49.0
	gprof/rawformat v0.0.0
)

replace gprof/rawformat => ../rawformat
