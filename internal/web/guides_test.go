package web

import (
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"cloudburst/docs"
)

func TestEveryGuideIsServedAndItsLinksWork(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(docs.Files, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	var on []string
	for _, f := range files {
		on = append(on, strings.TrimSuffix(f, ".md"))
	}
	w, _ := newWeb(t, newFake())
	routes := w.Routes()
	ids := map[string]map[string]bool{}
	var links []string
	for _, name := range on {
		rec := get(t, routes, "/docs/"+name)
		if rec.Code != http.StatusOK {
			t.Fatalf("%s: %d", name, rec.Code)
		}
		tree, err := html.Parse(rec.Body)
		if err != nil {
			t.Fatal(err)
		}
		ids["/docs/"+name] = map[string]bool{"": true}
		for n := range tree.Descendants() {
			for _, a := range n.Attr {
				switch {
				case a.Key == "id":
					ids["/docs/"+name][a.Val] = true
				case a.Key == "href" && strings.HasPrefix(a.Val, "#"):
					links = append(links, "/docs/"+name+a.Val)
				case a.Key == "href" && strings.HasPrefix(a.Val, "/docs/"):
					links = append(links, a.Val)
				case a.Key == "href" && strings.HasSuffix(a.Val, ".md"):
					t.Errorf("%s links to the file %s", name, a.Val)
				}
			}
		}
	}
	for _, l := range links {
		page, mark, _ := strings.Cut(l, "#")
		if ids[page] == nil || mark != "main" && !ids[page][mark] {
			t.Errorf("a link leads to %s, where nothing is", l)
		}
	}
	if len(links) < 100 {
		t.Errorf("only %d links were found", len(links))
	}
	if rec := get(t, routes, "/docs/none"); rec.Code != http.StatusNotFound {
		t.Errorf("a guide that is none: %d", rec.Code)
	}
}
