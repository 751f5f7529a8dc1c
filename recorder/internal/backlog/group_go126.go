//go:build !go1.27

package backlog

// group is how many numbers the runtime has of each collection: of objects and bytes.
const group = 4
