package web

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"cloudburst/internal/account"
)

func TestSavedSearchIsListedInTheSidebar(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	const page = "/river?category=Weblogs&q=hub+small"
	saved := func() (links []string) {
		for _, a := range find(find(check(t, x.open("/river")), "nav", "rail")[0], "a", "") {
			if href := attr(a, "href"); strings.Contains(href, "q=") {
				links = append(links, text(a)+" "+href)
			}
		}
		return links
	}
	form := func() (name, value string) {
		for _, b := range find(check(t, x.open(page)), "button", "") {
			if strings.HasSuffix(text(b), " this search") {
				return attr(b, "name"), attr(b, "value")
			}
		}
		t.Fatal("the page offers nothing to do with the search")
		return "", ""
	}
	name, value := form()
	if rec := x.send("/river/search", name, value, "back", page); name != "add" || rec.Code != 303 || rec.Header().Get("Location") != page {
		t.Fatalf("%s %s: %d to %s", name, value, rec.Code, rec.Header().Get("Location"))
	}
	_ = x.send("/river/search", name, value)
	if got := saved(); len(got) != 1 || got[0] != `/hub small in Weblogs `+page {
		t.Errorf("the rail has %q", got)
	}
	if rec := x.send("/river/display", "theme", "dark", "marks", "1"); rec.Code != 303 || len(saved()) != 1 {
		t.Error("the display settings drop it")
	}
	if name, value = form(); name != "remove" {
		t.Errorf("its page offers to %s it", name)
	}
	if _ = x.send("/river/search", name, value); len(saved()) != 0 {
		t.Error("it is not removed")
	}
	for _, fields := range [][]string{nil, {"add", ""}, {"add", "category=News"}, {"add", "%zz"}, {"add", "q=" + strings.Repeat("x", account.MaxSearch)}, {"add", "q=a&source=x"}} {
		if rec := x.send("/river/search", fields...); rec.Code != 400 {
			t.Errorf("%.40q: %d", fields, rec.Code)
		}
	}
	for i := range account.MaxSearches {
		if rec := x.send("/river/search", "add", url.Values{"q": {fmt.Sprint("word", i)}}.Encode()); rec.Code != 303 {
			t.Fatal(rec.Code)
		}
	}
	if rec := x.send("/river/search", "add", "q=more"); rec.Code != 429 || !strings.Contains(rec.Body.String(), "You have 20 saved searches") {
		t.Errorf("one too many: %d", rec.Code)
	}
	if got := saved(); len(got) != account.MaxSearches {
		t.Errorf("%d are in the rail", len(got))
	}
}
