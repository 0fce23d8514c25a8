package web

import (
	"strings"
	"testing"

	"cloudburst/internal/hub"
)

func TestPageOfTopicFoundOnlyInTheLogShowsNoSubscribers(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	f.add(bus, ping("Nobody here is subscribed."))
	rec := get(t, w.Routes(), topicPath(scripting))
	check(t, rec)
	if rec.Code != 200 || !strings.Contains(rec.Body.String(), "This feed has no subscribers, so the last ping notified nobody.") {
		t.Errorf("status %d", rec.Code)
	}
}

func TestTopicPageCountsUnexpiredSubscriptionsByProtocol(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	addBusyDay(f, bus)
	for i := range f.subs {
		if f.subs[i].Protocol == hub.SOAP {
			f.subs[i].ExpiresAt = f.now
		}
	}
	body := get(t, w.Routes(), topicPath(scripting)).Body.String()
	for _, want := range []string{`<span class="num">1,035</span>: <span class="num">673</span> by rssCloud (http-post)`, `<span class="num">24</span> by WebSub`, `<span class="num">4</span> by CNWS`, "And 995 more.", "failed twice in a row: No answer within 15 s.", "a retry in 1 min"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not hold %s", want)
		}
	}
	if strings.Contains(body, "by rssCloud (SOAP)") {
		t.Error("expired subscriptions are counted")
	}
}
