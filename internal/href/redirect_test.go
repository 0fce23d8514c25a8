package href

import (
	"net/http"
	"net/url"
	"testing"
)

func TestRedirectTargetIsResolvedFromLocation(t *testing.T) {
	t.Parallel()
	asked := &http.Request{URL: &url.URL{Scheme: "http", Host: "a.example", Path: "/b/feed"}}
	for _, tt := range []struct {
		status   int
		location string
		request  *http.Request
		want     string
	}{
		{http.StatusMovedPermanently, "/new", asked, "http://a.example/new"},
		{http.StatusFound, " c#top ", asked, "http://a.example/b/c"},
		{http.StatusPermanentRedirect, "ftp://b.example/x", asked, "ftp://b.example/x"},
		{http.StatusSeeOther, "http://[", asked, "http://["},
		{http.StatusTemporaryRedirect, "/new", nil, "/new"},
		{http.StatusFound, "", asked, ""},
		{http.StatusOK, "/new", asked, ""},
		{http.StatusNotModified, "/new", asked, ""},
	} {
		res := &http.Response{StatusCode: tt.status, Header: http.Header{"Location": {tt.location}}, Request: tt.request}
		if got := RedirectTarget(res); got != tt.want {
			t.Errorf("%d %q: %q, want %q", tt.status, tt.location, got, tt.want)
		}
	}
}
