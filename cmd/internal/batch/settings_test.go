package batch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// settingsOf are the settings of a batch with these flags.
func settingsOf(t *testing.T, args ...string) string {
	t.Helper()
	var c Options
	parser, err := kong.New(&c, kong.Vars{"formats": ""})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(append(args, "-o", "out", "in")); err != nil {
		t.Fatal(err)
	}
	text, err := c.describe()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A later build must understand the settings that an earlier one wrote.
func TestSettingsText(t *testing.T) {
	text := settingsOf(t, "--from=-1m", "--during=http[status>=500]", "--redact=secret:drop,path:drop", "--per=interval=10s", "--tracks=root")
	_, flags, _ := strings.Cut(text, ",")
	const want = `"from":"-1m","during":["http[status\u003e=500]"],"tracks":"root","redact":"secret:drop,user:keep,url:keep,path:drop,name:keep,key:5ae640bfa55c5a4a69b057ec501dbda6c9eac54ab35b52b2b31625056c7570ea","per":"interval=10s"}`
	if flags != want {
		t.Errorf("settings are\n%s\nwant\n%s", flags, want)
	}
}

// Each flag is among the settings, because outputs depend on it, or in this list: so a
// new one can't be forgotten.
func TestSettingsHaveAllFlags(t *testing.T) {
	const without = "help output format again keep-removed strict quiet fail-if jobs mem stall redact-key together sum-by task-size"
	file := filepath.Join(t.TempDir(), "bin")
	if err := os.WriteFile(file, []byte("program"), 0o600); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{"symbols": file, "expire-after": "1h", "last": "1s", "per": "track", "tracks": "root", "buckets": "1s", "redact": "secret"}
	parser, err := kong.New(&Options{}, kong.Vars{"formats": ""})
	if err != nil {
		t.Fatal(err)
	}
	plain, several := settingsOf(t), 0
	for _, f := range parser.Model.Flags {
		if strings.Contains(" "+without+" ", " "+f.Name+" ") {
			continue
		}
		several++
		arg := "--" + f.Name
		if value := values[f.Name]; value != "" {
			arg += "=" + value
		} else if !f.IsBool() {
			arg += "=x"
		}
		if settingsOf(t, arg) == plain {
			t.Errorf("%s is not among the settings", arg)
		}
	}
	if several < 15 {
		t.Errorf("only %d flags", several)
	}
}
