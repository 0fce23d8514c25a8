package polling_test

import (
	"strings"
	"testing"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/polling"
)

const (
	there  = "https://b.example/rss.xml"
	beyond = "https://c.example/rss.xml"
)

// moved returns an answer with a feed that was read after following redirects.
func moved(hops ...polling.Hop) polling.Answer {
	return via(ok("1", feed.Hints{}, "ETag", `"b"`), hops...)
}

func TestPermanentRedirectMovesFeedAfterThreeChecksIn24Hours(t *testing.T) {
	t.Parallel()
	for _, code := range []int{301, 308} {
		l := newTimeline(t)
		l.check(moved(hop(code, here, there))).url(here)
		l.after(11*time.Hour, moved(hop(code, here, there))).url(here)
		l.after(11*time.Hour, moved(hop(code, here, there))).url(here) // this is the third check, but only 22 hours have passed
		l.after(2*time.Hour, moved(hop(code, here, there))).url(there)
		if l.d.MovedTo != there || l.s.Candidate != nil || len(l.s.Moves) != 1 || l.s.Moves[0].From != here {
			t.Errorf("%d: %q %+v", code, l.d.MovedTo, l.s)
		}
		// The new URL sent these validators, so they stay.
		l.validators(`"b"`, "")
	}
	l := newTimeline(t)
	l.check(moved(hop(301, here, there)))
	l.after(48*time.Hour, moved(hop(301, here, there))).url(here) // enough time has passed, but this is only the second check
}

func TestStatus304AfterPermanentRedirectCountsTowardsTheMove(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(moved(hop(301, here, there)))
	l.after(12*time.Hour, via(status(304), hop(301, here, there)))
	l.after(12*time.Hour, via(status(304), hop(301, here, there))).url(there).validators(`"b"`, "")
}

func TestTemporaryRedirectIsNeverStored(t *testing.T) {
	t.Parallel()
	for _, code := range []int{302, 303, 307, 300} {
		l := newTimeline(t)
		for range 10 {
			l.after(24*time.Hour, moved(hop(code, here, there)))
		}
		l.outcome(polling.Unchanged).url(here)
		if l.s.Candidate != nil {
			t.Errorf("a redirect with status %d is a candidate", code)
		}
	}
}

func TestRedirectsAfterATemporaryRedirectCountAsTemporary(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		hops []polling.Hop
		want string
	}{
		"all permanent":               {[]polling.Hop{hop(301, here, there), hop(308, there, beyond)}, beyond},
		"permanent, then temporary":   {[]polling.Hop{hop(301, here, there), hop(302, there, beyond)}, there},
		"temporary, then permanent":   {[]polling.Hop{hop(302, here, there), hop(301, there, beyond)}, here},
		"permanent back to the start": {[]polling.Hop{hop(301, here, there), hop(301, there, here)}, here},
	} {
		l := newTimeline(t)
		for range 4 {
			l.after(12*time.Hour, moved(tt.hops...))
		}
		if l.s.URL != tt.want {
			t.Errorf("%s: the URL is %s, want %s", name, l.s.URL, tt.want)
		}
		if v := polling.Request(l.s); tt.want == there && v.URL != beyond {
			t.Errorf("%s: validators for %s", name, v.URL)
		}
	}
}

func TestRedirectCountRestartsIfTheRedirectEndsOrChanges(t *testing.T) {
	t.Parallel()
	l := newTimeline(t)
	l.check(moved(hop(301, here, there)))
	l.after(24*time.Hour, moved(hop(301, here, there)))
	l.after(time.Hour, ok("1", feed.Hints{}))
	l.after(time.Hour, moved(hop(301, here, there))).url(here)
	l.after(24*time.Hour, moved(hop(301, here, beyond)))
	l.after(24*time.Hour, moved(hop(301, here, there)))
	l.after(24*time.Hour, moved(hop(301, here, there))).url(here)
	l.after(24*time.Hour, moved(hop(301, here, there))).url(there)
}

func TestFailureNeitherMovesAFeedNorResetsItsRedirectCount(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(ok("1", feed.Hints{}, "ETag", `"a"`))
	page := polling.Answer{Status: 200, Looks: "html", Hash: "page", Header: header("ETag", `"page"`, "Cache-Control", "max-age=86400")}
	for range 5 {
		l.after(24*time.Hour, via(page, hop(301, here, "https://a.example/maintenance.html")))
	}
	l.outcome(polling.Failed).url(here).validators(`"a"`, "")
	if l.s.Candidate != nil || l.s.Hash != "1" || l.s.Cache.From != "" {
		t.Errorf("%+v", l.s)
	}
	l.after(time.Hour, moved(hop(301, here, there)))
	l.after(12*time.Hour, moved(hop(301, here, there)))
	l.after(6*time.Hour, status(500))
	l.after(time.Hour, polling.Answer{Error: polling.ErrDNS})
	l.after(6*time.Hour, moved(hop(301, here, there))).url(there)
}

func TestMaintenancePageDoesNotChangeFeedState(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(ok("1", feed.Hints{TTL: "90"}, "ETag", `"a"`))
	l.after(2*time.Hour, polling.Answer{Status: 200, Looks: "html", Hash: "x", Header: header("ETag", `"x"`)}).outcome(polling.Failed).wait(30 * time.Minute)
	if want := "an HTML page, not a feed"; l.d.Failure != want {
		t.Errorf("%q, want %q", l.d.Failure, want)
	}
	l.validators(`"a"`, "")
	l.after(30*time.Minute, status(304)).outcome(polling.Unchanged).wait(90 * time.Minute)
	if l.s.Failures != 0 || l.s.Failure != nil || !l.s.Since.IsZero() {
		t.Errorf("%+v", l.s)
	}
}

func TestFeedNeverMovesFromHTTPSToHTTP(t *testing.T) {
	t.Parallel()
	l := newTimeline(t)
	for range 5 {
		l.after(24*time.Hour, moved(hop(301, here, "http://a.example/rss.xml")))
		if len(l.d.Warnings) != 2 {
			t.Errorf("%q", l.d.Warnings)
		}
	}
	l.url(here).outcome(polling.Unchanged)
	l.after(time.Hour, moved(hop(302, here, "http://a.example/rss.xml")))
	if len(l.d.Warnings) != 1 || !strings.Contains(l.d.Warnings[0], "https to http") {
		t.Errorf("%q", l.d.Warnings)
	}
	l.s.URL = "http://a.example/rss.xml"
	for range 3 {
		l.after(24*time.Hour, moved(hop(301, l.s.URL, here)))
	}
	l.url(here)
}

func TestFeedDoesNotMoveAgainAfterTheUserUndoesTheMove(t *testing.T) {
	t.Parallel()
	l := newTimeline(t)
	for range 3 {
		l.after(12*time.Hour, moved(hop(301, here, there)))
	}
	l.url(there)
	s, did := polling.Undo(l.s, l.now)
	if !did || !polling.Due(s, l.now) || len(l.s.Moves) != 1 {
		t.Errorf("%t %+v", did, s)
	}
	l.s = s
	l.url(here).validators("", "")
	for range 5 {
		l.after(24*time.Hour, moved(hop(301, here, there)))
	}
	l.url(here)
	for range 3 { // another redirect is still followed
		l.after(24*time.Hour, moved(hop(301, here, beyond)))
	}
	l.url(beyond)
	if _, did := polling.Undo(polling.New(here, t0()), t0()); did {
		t.Error("Undo of a feed without moves returned true")
	}
}

func TestNumberOfOldURLsIsLimited(t *testing.T) {
	t.Parallel()
	l := newTimeline(t)
	for range 30 {
		to := there
		if l.s.URL == there {
			to = here
		}
		l.after(12*time.Hour, moved(hop(301, l.s.URL, to)))
	}
	if len(l.s.Moves) != 5 {
		t.Errorf("%d moves are stored", len(l.s.Moves))
	}
	if first := l.s.Moves[0]; first.From != here || !first.At.Before(l.s.Moves[1].At.Add(-24*time.Hour)) {
		t.Errorf("the first move is not the original URL: %+v", first)
	}
}

func TestCredentialsAreKeptOnlyIfTheFeedMovesWithinItsHost(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"https://a.example/new.xml": "https://u:p@a.example/new.xml",
		"https://b.example/new.xml": "https://b.example/new.xml",
	} {
		l := newTimeline(t)
		l.s.URL = "https://u:p@a.example/rss.xml"
		for range 3 {
			l.after(12*time.Hour, moved(hop(301, here, to)))
		}
		l.url(want)
	}
}

// document returns an answer with an XML <redirect>.
func document(to string) polling.Answer {
	a := ok("doc", feed.Hints{}, "ETag", `"doc"`)
	a.Moved = &feed.Moved{To: to, Gone: to == "", From: "redirect"}
	return a
}

func TestRedirectDocumentCountsAsPermanentRedirect(t *testing.T) {
	t.Parallel()
	l := newTimeline(t)
	a := document("/moved.xml")
	next, good := a.Follow(l.s)
	if want := "https://a.example/moved.xml"; !good || next.To != want || next.From != here || next.Status != 301 {
		t.Fatalf("%+v %t", next, good)
	}
	for range 3 {
		l.after(12*time.Hour, moved(next)).outcome(l.d.Outcome)
	}
	l.url(next.To)
	if l.s.Moves[0].Why != "redirect" || !l.s.Moves[0].Proven {
		t.Errorf("%+v", l.s.Moves[0])
	}
}

func TestUnfollowedRedirectDocumentIsNotAFailure(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(ok("1", feed.Hints{}, "ETag", `"a"`))
	l.after(time.Hour, document(there)).outcome(polling.Redirected).validators(`"a"`, "").url(here)
	l.after(12*time.Hour, document(there)).url(here)
	l.after(12*time.Hour, document(there)).url(there).validators("", "")
	// The feed was never read at the new URL. If it cannot be read there, the old URL is the
	// correct one.
	l.after(time.Hour, status(404)).url(here)
	if l.s.Candidate != nil || len(l.s.Moves) != 0 {
		t.Errorf("%+v", l.s)
	}
}

func TestEmptyRedirectDocumentMeansGone(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(document("")).outcome(polling.IsGone)
	if !l.d.Gone || !l.d.At.IsZero() || l.s.Gone == nil || l.s.Gone.Reason != "an empty <redirect>" {
		t.Errorf("%+v", l.d)
	}
	a := document("")
	a.Hops = []polling.Hop{hop(302, here, there)}
	newTimeline(t).check(a).outcome(polling.Failed)
}

func TestRedirectDocumentWithoutUsableTargetIsAFailure(t *testing.T) {
	t.Parallel()
	for _, to := range []string{here, "ftp://a.example/", "javascript:alert(1)", "http://", ":", " "} {
		a := document("x")
		a.Moved.To = to
		l := newTimeline(t)
		if _, good := a.Follow(l.s); good {
			t.Errorf("%q was followed", to)
		}
		l.check(a).outcome(polling.Failed).url(here)
	}
	a := document(there)
	a.Hops = []polling.Hop{hop(301, here, "https://a.example/1"), hop(301, "https://a.example/1", "https://a.example/2"), hop(301, "https://a.example/2", "https://a.example/3"),
		hop(301, "https://a.example/3", "https://a.example/4"), hop(301, "https://a.example/4", "https://a.example/5")}
	if _, good := a.Follow(polling.New(here, t0())); good {
		t.Error("the sixth redirect was followed")
	}
	newTimeline(t).check(a).outcome(polling.Failed)
	a = ok("1", feed.Hints{})
	a.Hops = make([]polling.Hop, 6)
	newTimeline(t).check(a).outcome(polling.Failed)
}

func TestNewFeedURLCountsAsRedirectAndIsRevertedIfInvalid(t *testing.T) {
	t.Parallel()
	podcast := ok("1", feed.Hints{}, "ETag", `"a"`)
	podcast.Moved = &feed.Moved{To: there, From: "itunes:new-feed-url"}
	l := newTimeline(t).check(podcast).url(here)
	l.after(12*time.Hour, status(304)).url(here) // the redirect that the last document declared still applies
	l.after(12*time.Hour, polling.Answer{Status: 200, Hash: "1"}).url(there).validators("", "")
	l.after(time.Hour, polling.Answer{Status: 200, Looks: "html"}).outcome(polling.Failed).url(here)
	l.check(podcast).after(24*time.Hour, podcast).after(time.Hour, podcast).url(there)
	l.after(time.Hour, status(410)).outcome(polling.Failed).url(here)
	l.check(podcast).after(24*time.Hour, podcast).after(time.Hour, podcast).url(there)
	self := ok("2", feed.Hints{})
	self.Moved = &feed.Moved{To: there, From: "itunes:new-feed-url"} // many feeds declare their current URL here
	l.after(time.Hour, self).url(there)
	if l.s.Candidate != nil {
		t.Errorf("%+v", l.s.Candidate)
	}
	l.after(time.Hour, status(404)).url(there)
}

func TestRedirectDocumentToItselfIsAFailure(t *testing.T) {
	t.Parallel()
	for _, to := range []string{here, "rss.xml", here + "#top"} {
		a := ok("1", feed.Hints{})
		a.Moved = &feed.Moved{From: "redirect", To: to}
		l := newTimeline(t).check(a).outcome(polling.Failed).url(here)
		if l.d.Failure != "a redirect to itself" {
			t.Errorf("%s: %q", to, l.d.Failure)
		}
	}
}
