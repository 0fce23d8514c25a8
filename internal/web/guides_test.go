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
	var on []string
	err := fs.WalkDir(docs.Files, ".", func(name string, _ fs.DirEntry, err error) error {
		if page, ok := strings.CutSuffix(name, ".md"); ok {
			on = append(on, page)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
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
	for name, to := range docs.Moved() {
		rec := get(t, routes, "/docs/"+name)
		if at := rec.Header().Get("Location"); rec.Code != http.StatusMovedPermanently || at != "/docs/"+to || ids[at] == nil {
			t.Errorf("%s: %d %s", name, rec.Code, at)
		}
	}
	if rec := get(t, routes, "/docs/none"); rec.Code != http.StatusNotFound {
		t.Errorf("a guide that is none: %d", rec.Code)
	}
}
