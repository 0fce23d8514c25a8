package endpoint

import (
	"strings"
	"testing"
)

func TestDisplayedURLContainsNoCredentials(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"http://u:p@a.example/x":   "http://a.example/x",
		"http://u@v:p@a.example":   "http://a.example",
		"http://a.example/x@y":     "http://a.example/x@y",
		"http://a.example?x=u:p@b": "http://a.example?x=u:p@b",
	} {
		if got := DisplayURL(url); got != want {
			t.Errorf("%s: %s", url, got)
		}
	}
	if got := DisplayURL("http://a.example/" + strings.Repeat("a", 500)); len(got) > 220 {
		t.Errorf("%d bytes", len(got))
	}
}
