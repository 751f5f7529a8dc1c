package docs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// snippets are a page's programs in Python, as commands. Those of docs/notebook.md end with
// the cells of the notebook, in order.
func snippets(t *testing.T, page, text string) (commands []string) {
	t.Helper()
	all := blocks(text, "python")
	if page == "docs/notebook.md" {
		all = append(all, cells(t, filepath.Join(root, "docs/notebook.ipynb")))
	}
	for _, program := range all {
		commands = append(commands, "python3 - <<'END'\n"+program+"END\n")
	}
	return commands
}

// cells is the code of a notebook.
func cells(t *testing.T, name string) string {
	t.Helper()
	var notebook struct {
		Cells []struct {
			Type    string `json:"cell_type"`
			Source  []string
			Outputs []json.RawMessage
		}
		Format int `json:"nbformat"`
	}
	text, err := os.ReadFile(name)
	check(t, err)
	check(t, json.Unmarshal(text, &notebook))
	var code strings.Builder
	for _, cell := range notebook.Cells {
		if len(cell.Outputs) > 0 {
			t.Errorf("%s has outputs: clear them before you commit it", name)
		}
		if cell.Type == "code" {
			code.WriteString(strings.Join(cell.Source, "") + "\n")
		}
	}
	if notebook.Format != 4 || code.Len() == 0 {
		t.Fatalf("%s: format %d, %d bytes of code", name, notebook.Format, code.Len())
	}
	return code.String()
}
