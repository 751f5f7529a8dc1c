// Package variables copies the memory in which the variables of the program and of Go's runtime lie,
// for those who search for what Go gives no access to.
package variables
