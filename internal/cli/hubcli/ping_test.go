package hubcli

import (
	"net/http"
	"strings"
	"testing"

	"cloudburst/internal/cli/shell"
	"cloudburst/protocol/rsscloud"
)

func TestFeedWithoutCloudIsPingedAtItsWebSubHubs(t *testing.T) {
	t.Parallel()
	w := &fakeHubs{}
	run := func(args ...string) (int, string, string) {
		out, errs := &locked{}, &locked{}
		p := inShell(shell.Shell{Out: out, Err: errs, HTTP: w, Version: "test"})
		return p.Run(t.Context(), append([]string{"ping"}, args...)), out.String(), errs.String()
	}
	code, out, errs := run("http://feed.example/two")
	if code != 0 || strings.Count(out, "The hub accepted the ping.") != 2 {
		t.Errorf("%d %s%s", code, out, errs)
	}
	for _, hub := range []string{"http://one.example/", "http://two.example/"} {
		if q := w.asked[hub]; len(q) != 1 || len(q[0].URLs) != 1 || q[0].URLs[0] != "http://feed.example/self" {
			t.Errorf("pings of %s: %+v", hub, q)
		}
	}
	// The command uses the protocol of --via even if the feed does not name it. A feed without hubs
	// is an error.
	for _, args := range [][]string{{"--via", "rest", "http://feed.example/two"}, {"http://feed.example/none"}} {
		if code, _, errs := run(args...); code != 1 || !strings.Contains(errs, "no usable <cloud> element") {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
}

// outcomeHub is a hub that reports the outcome of a ping on request.
type outcomeHub struct{ outcome string }

func (h outcomeHub) Do(r *http.Request) (*http.Response, error) {
	res := answer(`<result success="true" msg="Thanks for the ping."/>`)
	if h.outcome != "" && rsscloud.WantsOutcome(r.Header) {
		res.Header.Set(rsscloud.OutcomeHeader, h.outcome)
	}
	return res, nil
}

func TestPingPrintsOutcomeReportedByHub(t *testing.T) {
	t.Parallel()
	const feed, endpoint = "http://feed.example/rss.xml", "http://hub.example/ping"
	for outcome, want := range map[string]string{
		"": "",
		`changed; subscribers=2; page="http://hub.example/topics/7"`: "The feed had changed, and 2 subscribers are notified. See http://hub.example/topics/7",
		"changed; subscribers=1":                                     "The feed had changed, and 1 subscriber is notified.",
		"changed":                                                    "The feed had changed, and its subscribers are notified.",
		"changed; subscribers=0":                                     "The feed had changed, and it no longer has subscribers.",
		"unchanged; subscribers=0":                                   "The feed has not changed since the last check: the hub notifies no subscribers.",
		"nobody; subscribers=0":                                      "The feed has no subscribers at this hub.",
		"pending":                                                    "Reading the feed takes long. The hub has stored the ping and continues the check.",
		"a-state-of-later; page=x":                                   "",
	} {
		out := &locked{}
		p := inShell(shell.Shell{Out: out, Err: out, HTTP: outcomeHub{outcome}, Version: "test"})
		if code := p.Run(t.Context(), []string{"ping", "--hub", "http://hub.example", feed}); code != 0 {
			t.Fatalf("%s: exit status %d: %s", outcome, code, out)
		}
		first, rest, _ := strings.Cut(out.String(), "\n")
		if !strings.HasPrefix(first, feed+"  Thanks for the ping.  (") || !strings.HasSuffix(first, " by "+endpoint+")") {
			t.Errorf("%s: first line %s", outcome, first)
		}
		if strings.TrimSpace(rest) != want {
			t.Errorf("%s: printed %q; want %q", outcome, rest, want)
		}
	}
	out := &locked{}
	p := inShell(shell.Shell{Out: out, Err: out, HTTP: outcomeHub{`changed; subscribers=2; page="http://hub.example/topics/7"`}, Version: "test"})
	if code := p.Run(t.Context(), []string{"ping", "--json", "--hub", "http://hub.example", feed}); code != 0 ||
		!strings.Contains(out.String(), `"outcome":"changed","subscribers":2,"page":"http://hub.example/topics/7"`) {
		t.Errorf("exit status %d: %s", code, out)
	}
}
