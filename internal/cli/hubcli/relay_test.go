package hubcli

import "testing"

func TestDefaultPathIsAddedToRelayHubURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ via, hub, want string }{
		{"cnws", "http://hub.example:5337", "http://hub.example:5337/cnws"},
		{"cnws", "http://hub.example/", "http://hub.example/cnws"},
		{"cnws", "http://hub.example/else", "http://hub.example/else"},
		{"rsscloud", "http://hub.example:5337/", "http://hub.example:5337/rsscloud/pleaseNotify"},
		{"rsscloud", "https://hub.example/pleaseNotify", "https://hub.example/pleaseNotify"},
		{"websub", "https://hub.example/", "https://hub.example/"},
		{"websub", "https://hub.example", "https://hub.example"},
		{"cnws", "", ""},
		{"cnws", "no url", "no url"},
	} {
		if got := relayEndpoint(c.via, c.hub); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.via, c.hub, got, c.want)
		}
	}
}
