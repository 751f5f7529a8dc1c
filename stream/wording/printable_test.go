package wording

import "testing"

// Names that a program gave its tracks can neither steer a terminal nor look like a line
// of ours.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"main.work":                 "main.work",
		"火🔥 ñ · Ελ":                 "火🔥 ñ · Ελ",
		"ad\u200bmin\u200c\u200d":   "ad�min��",
		"\ufeffa\u2060b\u00adc":     "�a�b�c",
		"a\ufe0f\u034f\u3164\u115f": "a����",
		"tag\U000e0041\U000e0100":   "tag��",
		"\x1b[31mred\x1b]0;x\a":     "�[31mred�]0;x�",
		"two\r\nlines\tand":         "two��lines�and",
		"C1 \u009b2J\x7f":           "C1 �2J�",
		"not UTF-8 \xff\xfe":        "not UTF-8 ��",
		"\u202egnp.exe\u2066":       "�gnp.exe�",
		"line\u2028and\u2029par":    "line�and�par",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
