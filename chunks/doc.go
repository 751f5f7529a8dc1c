// Package chunks is what lies in the directory of a recorded process.
package chunks
