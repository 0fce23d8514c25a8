package route

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

func TestRoutesMatchLikeServeMux(t *testing.T) {
	t.Parallel()
	patterns := []string{"/", "/{$}", "/a", "/a/", "/a/{$}", "/a/{x}", "/a/{x}/b", "/a/{x...}", "/{x}", "/{x}/b", "/{x}/{y}/{z}"}
	paths := []string{"/", "/a", "/a/", "/a/b", "/a/b/", "/a/b/b", "/a/c/b", "/a/c/b/d", "/b", "/b/b", "/b/c", "/b/c/d"}
	for _, pattern := range patterns {
		mux := http.NewServeMux()
		mux.Handle(pattern, http.NotFoundHandler())
		for _, path := range paths {
			_, found := mux.Handler(httptest.NewRequest(http.MethodGet, path, nil))
			if slices.Contains([]string{path + "/", path + "/{$}", path + "/{x...}"}, pattern) {
				found = "" // ServeMux redirects /a to /a/, which is another path
			}
			if got := (Route{Path: pattern}).Matches(path); got != (found != "") {
				t.Errorf("%s matches %s: %t", pattern, path, got)
			}
		}
	}
}

func TestFirstPathSegmentIsReturned(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"/": "", "/{$}": "", "/v1/items": "v1", "/reader/": "reader", "/changes.xml": "changes.xml"} {
		if got, variable := (Route{Path: path}).First(); got != want || variable {
			t.Errorf("%s: %q, %t", path, got, variable)
		}
	}
	if _, variable := (Route{Path: "/{user}/rss.xml"}).First(); !variable {
		t.Error("/{user}/rss.xml begins with any text")
	}
}
