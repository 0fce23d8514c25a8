package web

import (
	"context"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/people"
)

type fakeDirectory struct{ page people.Page }

func (f *fakeDirectory) List(_ context.Context, words string, number int) (people.Page, error) {
	if words == "fail" {
		return people.Page{}, fault.New(fault.Unavailable, "The database is unreachable.")
	}
	p := f.page
	p.Number = number
	return p, nil
}

func (f *fakeDirectory) Forget() {}

func (f *fakeDirectory) Followed(string, map[int64]bool) int64 { return 0 }

func TestPeoplePageEscapesNamesAndShowsFollowButtons(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	x.People = &fakeDirectory{people.Page{Total: 1, More: true, Authors: []people.Author{{User: "alice", Name: "<b>Al</b>", About: "Chalk & cheese", Avatar: "javascript:alert(1)", Posts: 2, LastAt: time.Unix(0, 0)}}}}
	x.pages = x.Routes()
	x.fakeFeeds.feeds["alice/rss"] = author.Feed{User: "alice", Name: author.Public, Version: 1}
	rec := x.open("/people?page=2&q=a")
	check(t, rec)
	body := rec.Body.String()
	for _, want := range []string{"&lt;b&gt;Al&lt;/b&gt;", "Chalk &amp; cheese", `href="/people/follow?user=alice"`, `href="/people?page=3&amp;q=a"`, `href="/people?page=1&amp;q=a"`, "2 posts"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(body, "javascript:") || strings.Contains(body, "s-mine") {
		t.Error(body)
	}
	if rec := x.open("/people?q=fail"); rec.Code != 503 {
		t.Error(rec.Code)
	}
	for server, want := range map[string]string{
		"example.org": `href="https://example.org/feeds/add?url=`, "https%3A%2F%2Fexample.org%2Fx": `href="https://example.org/feeds/add?url=`, "%40me%40example.org": `href="https://example.org/feeds/add?url=`,
		"javascript%3Aalert(1)": "is not the name of a server", "nowhere": "is not the name of a server", "a%20b.example": "is not the name of a server",
	} {
		if body := x.open("/people/follow?user=alice&server=" + server).Body.String(); !strings.Contains(body, want) {
			t.Errorf("%s: %s", server, body)
		}
	}
	if rec := x.open("/people/follow?user=nobody"); rec.Code != 404 {
		t.Error(rec.Code)
	}
}
