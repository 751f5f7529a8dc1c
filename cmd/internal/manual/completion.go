package manual

import (
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: ${enum}."`
}

// Help is the end of completion --help.
func (*completionCmd) Help() string {
	return `Examples, for this shell and for all that start from now on:

  source <({name} completion bash)
  {name} completion bash >~/.local/share/bash-completion/completions/{name}
  {name} completion zsh >"${fpath[1]}/_{name}"
  {name} completion fish >~/.config/fish/completions/{name}.fish`
}

// Run prints the script. It only asks the command that is being completed, so that it
// need not change with the command.
func (c *completionCmd) Run(k *kong.Kong) error {
	name := k.Model.Name
	replace := strings.NewReplacer(placeHolder, name, "{function}", "_"+strings.ReplaceAll(name, "-", "_"))
	_, err := io.WriteString(k.Stdout, replace.Replace(scripts[c.Shell]))
	return err
}

// scripts ask {name} __complete for candidates; if there are none, the shell completes
// file names.
var scripts = map[string]string{
	"bash": `# bash completion for {name}
{function}() {
	local IFS=$'\n' word=${COMP_WORDS[COMP_CWORD]}
	[ "$word" != = ] || word=
	COMPREPLY=($(compgen -W "$({name} __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1)" -- "$word"))
}
complete -o default -F {function} {name}
`,
	"zsh": `#compdef {name}
{function}() {
	local -a found
	found=("${(@f)$({name} __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	if [[ -n ${found[1]} ]]; then
		found=("${(@)found//$'\t'/:}")
		_describe {name} found
	else
		_files
	fi
}
# As a file in fpath this is the body of a function, which zsh calls to complete.
if [[ ${funcstack[1]} == _{name} ]]; then
	{function} "$@"
else
	compdef {function} {name}
fi
`,
	"fish": `# fish completion for {name}
function {function}
	set -l words (commandline -opc)
	set -l last (commandline -ct)
	set -l found ({name} __complete -- $words[2..-1] "$last" 2>/dev/null)
	if set -q found[1]
		printf '%s\n' $found
	else
		__fish_complete_path (commandline -ct)
	end
end
complete -c {name} -f -a '({function})'
`,
}
