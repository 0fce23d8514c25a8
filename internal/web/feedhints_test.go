package web

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"cloudburst/internal/author"
)

func TestAuthorSetsUpdateHintsOnTheFeedPage(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	x.profile("alice", author.Profile{Title: "Walks"})
	rec := x.send("/account/feed/hints", "ttl", "120", "hours", "0, 1 23", "day", "Sunday", "day", "Monday", "period", "daily", "frequency", "2", "base", "2026-01-01T12:00:00Z")
	if rec.Code != http.StatusSeeOther {
		t.Fatal(rec.Code, rec.Body)
	}
	w, err := x.posts.Writer(t.Context(), "alice")
	if h := w.Hints; err != nil || w.Title != "Walks" || h.TTL != 120 || !slices.Equal(h.SkipHours, []int{0, 1, 23}) || !slices.Equal(h.SkipDays, []string{"Monday", "Sunday"}) || h.UpdatePeriod != "daily" || h.UpdateFrequency != 2 || h.UpdateBase.IsZero() {
		t.Errorf("stored: %+v, %v", w.Profile, err)
	}
	page := x.open("/account/feed?done=hints")
	check(t, page)
	for _, words := range []string{`name="ttl" inputmode="numeric" maxlength="6" value="120"`, `value="0, 1, 23"`, `value="Sunday" checked`, `<option selected>daily</option>`, `value="2026-01-01T12:00:00Z"`, "The hints are saved"} {
		if !strings.Contains(page.Body.String(), words) {
			t.Errorf("the page lacks %s:\n%s", words, page.Body)
		}
	}
	for field, value := range map[string]string{"ttl": "soon", "hours": "25", "frequency": "-3", "base": "yesterday", "day": "Caturday", "period": "fortnightly"} {
		rec := x.send("/account/feed/hints", field, value)
		check(t, rec)
		if rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), value) {
			t.Errorf("%s %s: %d %s", field, value, rec.Code, rec.Body)
		}
	}
	if rec := x.postMultipart("/account/author", "", "", nil, "title", "Strolls"); rec.Code != http.StatusSeeOther {
		t.Fatal(rec.Code)
	}
	if w, err := x.posts.Writer(t.Context(), "alice"); err != nil || w.Title != "Strolls" || w.Hints.TTL != 120 {
		t.Errorf("the other page of the profile has changed the hints: %+v, %v", w.Profile, err)
	}
	if rec := x.send("/account/feed/hints", "period", "daily", "base", "2000-01-01T12:00+00:00"); rec.Code != http.StatusSeeOther {
		t.Errorf("a W3C date without seconds: %d %s", rec.Code, rec.Body)
	}
}
