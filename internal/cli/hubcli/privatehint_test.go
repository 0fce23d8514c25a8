package hubcli

import (
	"strings"
	"testing"

	"cloudburst/internal/cli/hubclient"
	"cloudburst/internal/cli/shell"
)

func TestRefusalOfPrivateAddressNamesSetting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ message, feed, want string }{
		{"The address http://127.0.0.1:8000/f is on a network that this server does not read.", "http://127.0.0.1:8000/f", "egress.allow-fetch"},
		{"The address http://[::1]/f is on a network that this server does not read.", "http://[::1]/f", "egress.allow-fetch"},
		{"The callback http://10.0.0.7:1/n is at an address that this server does not call.", "http://feed.example/f", "egress.allow-callback"},
		{"The address http://feed.example/f is on a network that this server does not read.", "http://feed.example/f", ""},
		{"Too many pings from your network.", "http://127.0.0.1:8000/f", ""},
	} {
		got := hubclient.ExplainRefusal(c.message, c.feed)
		if c.want == "" && got != c.message || !strings.Contains(got, strings.TrimSuffix(c.message, ".")) || !strings.Contains(got, c.want) {
			t.Errorf("%q about %s is printed as %q", c.message, c.feed, got)
		}
	}
	out := &locked{}
	w := &fakeCloudHub{refusal: "The address http://127.0.0.1:8000/f is on a network that this server does not read."}
	p := inShell(shell.Shell{Out: out, Err: out, HTTP: w, Version: "test"})
	if code := p.Run(t.Context(), []string{"ping", "--hub", "http://hub.example", "http://127.0.0.1:8000/f"}); code != 1 || !strings.Contains(out.String(), "egress.allow-fetch") {
		t.Errorf("exit status %d: %s", code, out)
	}
}
