package api

import (
	"testing"

	"cloudburst/internal/author"
)

func TestSiteResponsesMatchSchema(t *testing.T) {
	t.Parallel()
	const pages, page, style = "/v1/users/{user}/pages", "/v1/users/{user}/pages/{slug}", "/v1/users/{user}/style"
	w := newPostHarness(t)
	site := &author.Site{Store: w.Store.(author.SiteStore), Posts: w.Posts, Now: w.now}
	o := Options{Accounts: newFakeAccounts("alice"), Posts: w, Files: postFiles{w}, Site: site}
	checkResponses(t, o, []expectation{
		{"PUT", "/v1/users/alice/pages/about", page, `{"title":"About","source":"*me*","place":2,"in_menu":true}`, 200},
		{"PUT", "/v1/users/alice/pages/about", page, `{"title":"About me","source":"*me*","slug":"me"}`, 200},
		{"PUT", "/v1/users/alice/pages/now", page, `{"title":"Now","slug":"me"}`, 409},
		{"PUT", "/v1/users/alice/pages/archive", page, `{"title":"Now"}`, 400},
		{"PUT", "/v1/users/alice/pages/about", page, `{"source":"no title"}`, 400},
		{"PUT", "/v1/users/nobody/pages/about", page, `{"title":"About"}`, 404},
		{"GET", "/v1/users/alice/pages", pages, "", 200},
		{"GET", "/v1/users/alice/pages/me", page, "", 200},
		{"GET", "/v1/users/alice/pages/about", page, "", 404},
		{"DELETE", "/v1/users/alice/pages/me", page, "", 200},
		{"DELETE", "/v1/users/alice/pages/me", page, "", 404},
		{"PUT", "/v1/users/alice/style", style, `{"css":"h1 { color: teal }"}`, 200},
		{"PUT", "/v1/users/alice/style", style, `{"css":"@import url(https://else.example/a.css)"}`, 400},
		{"GET", "/v1/users/alice/style", style, "", 200},
	})
	checkResponses(t, Options{Accounts: newFakeAccounts("alice"), Posts: w, Files: postFiles{w}}, []expectation{{"GET", "/v1/users/alice/pages", pages, "", 501}})
}
