package hubhttp

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/route"
	"cloudburst/protocol/rsscloud"
)

const outcomeFeed = "http://feeds.example/rss.xml"

// pingBodies returns a ping of outcomeFeed for each protocol. The values are path, content type and
// body.
func pingBodies() map[string][3]string {
	const form = "application/x-www-form-urlencoded"
	return map[string][3]string{
		"rest":    {"/ping", form, "url=" + url.QueryEscape(outcomeFeed)},
		"xml-rpc": {"/RPC2", "text/xml", `<?xml version="1.0"?><methodCall><methodName>rssCloud.ping</methodName><params><param><value>` + outcomeFeed + `</value></param></params></methodCall>`},
		"soap": {"/soap", "text/xml", `<?xml version="1.0"?><SOAP-ENV:Envelope xmlns:SOAP-ENV="http://schemas.xmlsoap.org/soap/envelope/"><SOAP-ENV:Body><m:ping xmlns:m="http://rsscloud.org/"><url>` +
			outcomeFeed + `</url></m:ping></SOAP-ENV:Body></SOAP-ENV:Envelope>`},
		"websub": {"/websub", form, "hub.mode=publish&hub.url=" + url.QueryEscape(outcomeFeed)},
	}
}

// outcomeHandler serves the endpoints of h for a server at http://hub.example.
func outcomeHandler(t *testing.T, h Hub) http.Handler {
	mux := http.NewServeMux()
	route.Mount(mux, (&Endpoints{Hub: h, PublicURL: "http://hub.example", Log: logTo(t)}).Routes(), nil)
	return mux
}

func pinged(h http.Handler, ping [3]string, prefer string) (int, string, string) {
	r := httptest.NewRequest("POST", ping[0], strings.NewReader(ping[2]))
	r.Header.Set("Content-Type", ping[1])
	if prefer != "" {
		r.Header.Set("Prefer", prefer)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	body, _ := io.ReadAll(rec.Body)
	return rec.Code, string(body), rec.Header().Get(rsscloud.OutcomeHeader)
}

func TestPingResponseContainsOutcomeInEveryProtocol(t *testing.T) {
	t.Parallel()
	page := `page="http://hub.example/topics/` + strconv.FormatInt(hub.TopicID(outcomeFeed), 10) + `"`
	for name, ping := range pingBodies() {
		for want, result := range map[string]hub.PingResult{
			"changed; " + page + "; subscribers=2":   {Known: true, Checked: true, Changed: true, Subscribers: 2},
			"changed; " + page:                       {Known: true, Checked: true, Changed: true, Subscribers: -1},
			"unchanged; " + page + "; subscribers=0": {Known: true, Checked: true},
			"pending; " + page:                       {Known: true, Pending: true},
			"nobody; " + page + "; subscribers=0":    {Checked: true},
		} {
			var got hub.Ping
			paths := outcomeHandler(t, &fakeHub{ping: func(p hub.Ping) (hub.PingResult, error) { got = p; return result, nil }})
			status, body, outcome := pinged(paths, ping, rsscloud.OutcomePreference)
			if outcome != want || !got.Count {
				t.Errorf("%s: the outcome is %s, want %s (counted: %v)", name, outcome, want, got.Count)
			}
			plainStatus, plain, none := pinged(paths, ping, "")
			if plainStatus != status || plain != body || none != "" || got.Count {
				t.Errorf("%s: without a request for the outcome %d %s, outcome %q; with a request %d %s", name, plainStatus, plain, none, status, body)
			}
		}
	}
}

func TestOutcomeDoesNotRevealFollowedFeeds(t *testing.T) {
	t.Parallel()
	var all []string
	for _, result := range []hub.PingResult{{}, {Checked: true}, {Known: true}} { // the feed is unknown twice, and then only users of this server follow it
		_, _, outcome := pinged(outcomeHandler(t, &fakeHub{ping: func(hub.Ping) (hub.PingResult, error) { return result, nil }}), pingBodies()["rest"], rsscloud.OutcomePreference)
		all = append(all, outcome)
	}
	if all[0] == "" || all[1] != all[0] || all[2] != all[0] {
		t.Errorf("the outcomes are %q", all)
	}
}

func TestResponseToRefusedPingOrSeveralFeedsContainsNoOutcome(t *testing.T) {
	t.Parallel()
	refused := outcomeHandler(t, &fakeHub{ping: func(hub.Ping) (hub.PingResult, error) {
		return hub.PingResult{}, fault.New(fault.Unreadable, "The feed cannot be read.")
	}})
	for name, ping := range pingBodies() {
		if _, _, outcome := pinged(refused, ping, rsscloud.OutcomePreference); outcome != "" {
			t.Errorf("%s: %s", name, outcome)
		}
	}
	two := pingBodies()["websub"]
	two[2] += "&hub.url=" + url.QueryEscape(outcomeFeed+"?two")
	h := &fakeHub{}
	if _, _, outcome := pinged(outcomeHandler(t, h), two, rsscloud.OutcomePreference); outcome != "" || len(h.pings) != 2 {
		t.Errorf("%d pings have the outcome %s", len(h.pings), outcome)
	}
}

func TestSitePingOutcomeReportsWhetherFeedsAreChecked(t *testing.T) {
	t.Parallel()
	ping := [3]string{"/RPC2", "text/xml", `<?xml version="1.0"?><methodCall><methodName>weblogUpdates.ping</methodName><params><param><value>A</value></param><param><value>http://site.example/</value></param></params></methodCall>`}
	for state, done := range map[string]hub.Announced{"checking": {Checking: []string{outcomeFeed}}, "listed": {}} {
		paths := outcomeHandler(t, &fakeHub{announce: func(hub.Announcement) (hub.Announced, error) { return done, nil }})
		if _, _, outcome := pinged(paths, ping, rsscloud.OutcomePreference); !strings.HasPrefix(outcome, state+";") {
			t.Errorf("%s: %s", state, outcome)
		}
	}
}
