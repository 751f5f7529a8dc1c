module gprof

go 1.26
