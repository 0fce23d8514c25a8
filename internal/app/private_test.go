package app_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"cloudburst/client"
	"cloudburst/internal/hub"
)

// TestErrorForPrivateAddressNamesTheSettingOnlyToOperator requests private addresses from a
// server that allows none. It sends the requests in several ways, as the operator and as unknown
// clients.
func TestErrorForPrivateAddressNamesTheSettingOnlyToOperator(t *testing.T) {
	t.Parallel()
	cfg := conf(t, t.TempDir())
	cfg.Egress.AllowFetch, cfg.Egress.AllowCallback = nil, nil
	r := start(t, cfg)
	admin, f, s := &client.Client{Base: r.admin}, newFeed(t), newSubscriber(t)
	feed := f.URL + "/rss.xml"
	const byFetch, byCallback = "127.0.0.1 is not a public address, and egress.allow-fetch does not list it", "127.0.0.1 is not a public address, and egress.allow-callback does not list it"

	for name, err := range map[string]error{
		"sources add": func() error {
			_, err := admin.River("").AddSource(t.Context(), client.SourceRequest{URL: feed})
			return err
		}(),
		"opml import": func() error {
			_, err := admin.River("").ImportOPML(t.Context(), nil, client.OPMLOptions{URL: feed})
			return err
		}(),
		"relay add": func() error { _, err := admin.AddRelay(t.Context(), client.RelayRequest{Feed: feed}); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), byFetch) || strings.Contains(err.Error(), "denied by") {
			t.Errorf("%s returns %v", name, err)
		}
	}

	_, ping := post(t, r.base+"/ping", url.Values{"url": {feed}})
	_, registered := post(t, r.base+"/rsscloud/pleaseNotify", s.form(r.base+"/test/rss.xml", ""))
	_, page := post(t, r.base+"/do/ping", url.Values{"url": {feed}})
	_, websub := post(t, r.base+"/websub", url.Values{"hub.mode": {"subscribe"}, "hub.topic": {r.base + "/test/rss.xml"}, "hub.callback": {s.URL}})
	for name, body := range map[string]string{"ping": ping, "pleaseNotify": registered, "the form": page, "WebSub": websub, "the log": mustGet(t, r.base+"/log")} {
		if strings.Contains(body, "egress.") || !strings.Contains(body, "that this server does not") {
			t.Errorf("an unknown client reads in %s: %s", name, body)
		}
	}

	events, err := r.app.Hub().Store.Events(t.Context(), hub.EventQuery{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	for _, e := range events {
		log.WriteString(e.Kind + " " + string(e.Detail) + "\n")
	}
	for _, want := range []string{byFetch, byCallback} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the operator's log does not say that %s:\n%s", want, &log)
		}
	}
}

func TestLogContainsNoPasswordOfARefusedPing(t *testing.T) {
	t.Parallel()
	cfg := conf(t, t.TempDir())
	cfg.Egress.AllowFetch = nil
	r := start(t, cfg)
	if code, _ := post(t, r.base+"/ping", url.Values{"url": {"http://ann:hush@127.0.0.1:1/rss.xml"}}); code != http.StatusOK {
		t.Errorf("answered %d", code)
	}
	events, err := r.app.Hub().Store.Events(t.Context(), hub.EventQuery{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if strings.Contains(e.Topic+e.Text+string(e.Detail), "hush") {
			t.Errorf("the log has %+v", e)
		}
	}
}
