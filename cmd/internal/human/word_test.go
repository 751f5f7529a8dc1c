package human

import (
	"os/exec"
	"testing"
)

// A shell reads each word as it was.
func TestWord(t *testing.T) {
	for _, word := range []string{"", "dumps/monday", "s3://b/n-1_2", "a b", "it's", "$(x)", "a'b\"c\\", "店", "*"} {
		got, err := exec.Command("sh", "-c", "printf %s "+Word(word)).Output()
		if err != nil || string(got) != word {
			t.Errorf("%s became %q: %v", Word(word), got, err)
		}
	}
	if Word("s3://b/n-1_2") != "s3://b/n-1_2" {
		t.Error("a plain word is quoted")
	}
}
