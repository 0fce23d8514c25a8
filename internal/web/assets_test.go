package web

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"cloudburst/internal/author"
	"cloudburst/internal/web/shell"
)

// The test adds the compressed sizes of the styles and scripts that each page loads when it opens. The
// editor loads further scripts on demand. These scripts have a separate limit, without compression.
func TestStylesAndScriptsStayWithinTheirLimits(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	p := x.write("alice", author.Published, author.Content{Source: "Hello"})
	for _, path := range []string{"/river/welcome", "/hub", "/log", "/changes", "/topics", "/status", "/docs", "/river", "/feeds", "/account", "/account/author", "/write", "/write/posts", fmt.Sprint("/write/", p.ID)} {
		doc, size := check(t, x.open(path)), 0
		for n := range doc.Descendants() {
			ref := attr(n, "href")
			if n.Data == "script" {
				ref = attr(n, "src")
			}
			if strings.HasPrefix(ref, "/static/") && !strings.HasSuffix(ref, ".svg") && !strings.HasSuffix(ref, ".png") {
				r := httptest.NewRequest("GET", ref, nil)
				r.Header.Set("Accept-Encoding", "gzip")
				size += x.do(r).Body.Len()
			}
		}
		limit := 45_000
		if path == "/river" {
			limit = 22_000
		}
		if size == 0 || size > limit {
			t.Errorf("%s loads %d bytes of styles and scripts; at most %d are allowed", path, size, limit)
		}
	}
	later := 0
	for name, u := range shell.AssetURLs() {
		switch name {
		case "outline.js", "outlinein.js", "writefiles.js", "writekept.js", "writewords.js":
			later += x.open(u).Body.Len()
		}
	}
	if later > 25_000 {
		t.Errorf("what is loaded when it is asked for has %d bytes", later)
	}
}
