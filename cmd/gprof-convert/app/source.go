package app

// sourceFlags are the flags of commands that show source.
type sourceFlags struct {
	Dirs []string `name:"source-dir" sep:"none" type:"path" placeholder:"DIR" help:"Where the source lies, if not where it was compiled, in the module cache, or in Go's own tree. May be repeated."`
}
