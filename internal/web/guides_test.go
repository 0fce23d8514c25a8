package web

import (
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cloudburst/docs"

	"golang.org/x/net/html"
)

func TestEveryGuideIsOnAShelfAndItsLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	all, err := loadGuides()
	if err != nil {
		t.Fatal(err)
	}
	var on []string
	for _, s := range all {
		for _, g := range s.Guides {
			on = append(on, g.Name)
			if g.Title == "" {
				t.Errorf("%s has no heading", g.Name)
			}
		}
	}
	files, err := fs.Glob(docs.Files, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !slices.Contains(on, strings.TrimSuffix(f, ".md")) {
			t.Errorf("%s is on no shelf", f)
		}
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

func TestTablesOfAGuideHaveNamesOfTheirOwnAndNoEmptyHeads(t *testing.T) {
	t.Parallel()
	all, err := loadGuides()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, s := range all {
		for _, g := range s.Guides {
			tree, err := html.Parse(strings.NewReader(string(g.Body)))
			if err != nil {
				t.Fatal(err)
			}
			names := map[string]bool{}
			for _, n := range find(tree, "div", "scroll") {
				name := attr(n, "aria-label")
				if found++; names[name] || strings.TrimPrefix(name, "Table: ") == "" || attr(n, "role") != "region" {
					t.Errorf("%s: a table is called %q", g.Name, name)
				}
				names[name] = true
			}
			for _, n := range find(tree, "th", "") {
				if strings.TrimSpace(text(n)) == "" || attr(n, "scope") != "col" {
					t.Errorf("%s: a table has the head %q of scope %q", g.Name, text(n), attr(n, "scope"))
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d tables were found", found)
	}
}
