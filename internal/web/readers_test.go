package web

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"cloudburst/internal/audience"
)

func TestReadersPageShowsTheTotalAndItsParts(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t).as("alice")
	rec := x.open("/account/readers")
	check(t, rec)
	if rec.Code != 200 || rec.Header().Get("Cache-Control") != "no-store" || x.fakeAudience.asked != "alice" {
		t.Errorf("%d %v, asked for %q", rec.Code, rec.Header(), x.fakeAudience.asked)
	}
	body := html.UnescapeString(rec.Body.String())
	for _, want := range []string{"About 1,204 people read your feeds.", "1,100 through services, 80 with their own programs, 22 by notifications only and 2 with a secret.",
		"Feedbin", "RSS 2.0", "as saved", "NetNewsWire", "12</span> seen only once", "WebSub", "31</span> browsers", "20 Nov 2026"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Index(body, "20 Nov 2026") > strings.Index(body, "19 Nov 2026") {
		t.Error("the newest day is not the first")
	}
}

func TestReadersPageExplainsMissingAndPartialCounts(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t).as("alice")
	x.fakeAudience.report = audience.Report{WindowDays: 7}
	rec := x.open("/account/readers")
	check(t, rec)
	if !strings.Contains(rec.Body.String(), "No readers of your feeds were seen in the last 7 days.") {
		t.Errorf("%s", rec.Body)
	}
	x.fakeAudience.report.Readers, x.fakeAudience.report.Programs.Readers, x.fakeAudience.report.Partial = 1, 1, true
	if body := x.open("/account/readers").Body.String(); !strings.Contains(body, "About 1 person reads your feeds.") || !strings.Contains(body, "too low") {
		t.Errorf("%s", body)
	}
}

func TestReaderNumbersAreVisibleToTheAuthorOnly(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	unknown := x.open("/nobody/stats")
	for _, rec := range []string{"/alice/stats", "/bob/stats"} {
		if got := x.open(rec); got.Code != 404 || got.Body.String() != unknown.Body.String() {
			t.Errorf("%s: %d", rec, got.Code)
		}
	}
	if rec := x.open("/account/readers"); rec.Code != 303 {
		t.Errorf("signed out: %d", rec.Code)
	}
	x.as("alice")
	if rec := x.open("/alice/stats"); rec.Code != 303 || rec.Header().Get("Location") != "/account/readers" {
		t.Errorf("alice: %d to %s", rec.Code, rec.Header().Get("Location"))
	}
	if rec := x.open("/bob/stats"); rec.Code != 404 {
		t.Errorf("alice looks at bob's: %d", rec.Code)
	}
}

func TestReadersPageEscapesNames(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t).as("alice")
	evil := "\"><script>alert(1)</script>\x1b \xff"
	x.fakeAudience.report.Services.List = []audience.ServiceRow{{Name: evil, Format: evil, Subscribers: -3}}
	x.fakeAudience.report.Programs.List = []audience.Count{{Name: evil, N: 1}}
	x.fakeAudience.report.Push.List = []audience.Count{{Name: evil, N: 1}}
	x.fakeAudience.report.Formats = []audience.Count{{Name: evil, N: 1}}
	rec := x.open("/account/readers")
	check(t, rec)
	if strings.Contains(rec.Body.String(), "<script>alert") || strings.Contains(rec.Body.String(), "\x1b") {
		t.Error("a name is more than text")
	}
}
