module gprof/rawformat

go 1.26.0
