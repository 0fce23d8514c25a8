package hubcli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"cloudburst/client"
)

func TestEarlierErrorOfRelayIsNotTheHubsAnswer(t *testing.T) {
	t.Parallel()
	at := func(second int) *time.Time {
		when := time.Unix(1_700_000_000, 0).UTC().Add(time.Duration(second) * time.Second)
		return &when
	}
	earlier := client.Relay{Feed: "http://feed.test/", Via: "websub", State: "pending", RequestedAt: at(0), LastError: "Refused.", LastErrorAt: at(1)}
	asked := earlier
	asked.RequestedAt = at(10)
	unverified := asked
	unverified.LastError, unverified.LastErrorAt = "The hub did not verify the earlier request.", at(10)
	failed := asked
	failed.LastError, failed.LastErrorAt = "Refused again.", at(11)
	confirmed := asked
	confirmed.State, confirmed.ConfirmedAt, confirmed.LastError, confirmed.LastErrorAt = "active", at(12), "", nil
	for name, answers := range map[string][]client.Relay{
		"confirmed":            {earlier, asked, confirmed},
		"failed again":         {earlier, asked, failed},
		"unverified, then not": {unverified, confirmed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			_, s := connected(t, &bytes.Buffer{}, func(w http.ResponseWriter, _ *http.Request) {
				_ = json.NewEncoder(w).Encode(map[string]any{"relays": answers[n : n+1]})
				n = min(n+1, len(answers)-1)
			})
			got, err := answeredRelay(t.Context(), s, earlier)
			if want := answers[len(answers)-1]; err != nil || got.State != want.State || got.LastError != want.LastError {
				t.Errorf("%s, %q, %v, want %s, %q", got.State, got.LastError, err, want.State, want.LastError)
			}
		})
	}
}

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
