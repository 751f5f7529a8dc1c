package output

import "io/fs"

// fileMode is the mode of an output of inputs with these permissions: it is no more open
// than any of them, because a recording may hold secrets, nor than the umask.
func fileMode(inputs fs.FileMode) fs.FileMode { return 0o666 &^ umask & (inputs | 0o600) }

// folderMode is fileMode of a directory.
func folderMode(inputs fs.FileMode) fs.FileMode {
	files := fileMode(inputs)
	return files | files&0o444>>2
}

// Anybody is for outputs that hold nothing of an input.
const Anybody fs.FileMode = 0o666
