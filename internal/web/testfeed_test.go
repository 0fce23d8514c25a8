package web

import (
	"context"
	"net/http"
	"testing"
	"time"

	"cloudburst/internal/fault"
)

func TestTestFeedPageLetsTheOwnerChangeTheFeed(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	if rec := x.open("/test/"); rec.Code != http.StatusNotFound {
		t.Errorf("without a test feed its page answers %d", rec.Code)
	}
	ticks, trouble := 0, error(nil)
	x.TestFeed = "http://hub.example:5337/test/rss.xml"
	x.Tick = func(context.Context) (time.Time, string, error) { ticks++; return x.fake.now, x.TestFeed, trouble }
	x.ReaderOf = func(user string) string { // alice is the first user, so the river of the server is hers
		if user == "alice" {
			return ""
		}
		return user
	}
	x.pages = x.Routes()
	page := x.open("/test/").Body.String()
	has(t, page, x.TestFeed, "The next change is", "hub.mode=subscribe", "url1="+x.TestFeed, "cloudburst listen")
	lacks(t, page, "Change it now")
	if rec := x.send("/test/tick"); rec.Code != http.StatusSeeOther || ticks != 0 {
		t.Errorf("a tick of a signed-out client: %d, %d", rec.Code, ticks)
	}
	x.as("bob")
	lacks(t, x.open("/test/").Body.String(), "Change it now")
	if rec := x.send("/test/tick"); rec.Code != http.StatusForbidden || ticks != 0 {
		t.Errorf("bob's tick: %d, %d", rec.Code, ticks)
	}
	x.as("alice")
	has(t, x.open("/test/").Body.String(), "Change it now")
	rec := x.send("/test/tick")
	if rec.Code != http.StatusSeeOther || ticks != 1 {
		t.Fatalf("alice's tick: %d, %d", rec.Code, ticks)
	}
	has(t, x.open(rec.Header().Get("Location")).Body.String(), "The feed has changed")
	trouble = fault.New(fault.Unavailable, "The store is away.")
	if rec := x.send("/test/tick"); rec.Code != http.StatusServiceUnavailable {
		t.Errorf("in trouble: %d", rec.Code)
	}
}
