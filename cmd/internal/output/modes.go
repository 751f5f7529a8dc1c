package output

import "io/fs"

// fileMode is that of an output whose inputs let those read: it is no more open than
// any of them, because a recording may hold secrets, and within the umask.
func fileMode(inputs fs.FileMode) fs.FileMode { return 0o666 &^ umask & (inputs | 0o600) }

// folderMode is fileMode of a directory.
func folderMode(inputs fs.FileMode) fs.FileMode {
	files := fileMode(inputs)
	return files | files&0o444>>2
}

// Anybody is for what holds nothing of an input.
const Anybody fs.FileMode = 0o666
