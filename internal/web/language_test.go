package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"cloudburst/internal/author"
	"cloudburst/internal/river"
	"cloudburst/internal/web/readerui"
)

func TestPageHasTheLanguageOfTheBrowser(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	for language, words := range map[string][]string{
		"de-AT,de;q=0.9,en;q=0.5": {`<html lang="de">`, "Alle 72 als gelesen markieren", ">Lesen<", "<title>River · Cloudburst</title>", "ungelesen", "vor "},
		"fr":                      {`<html lang="en">`, "Mark all 72 read", ">Read<"},
	} {
		rec := x.open("/river", "Accept-Language", language)
		body := rec.Body.String()
		for _, want := range words {
			if !strings.Contains(body, want) {
				t.Errorf("the page for %s has no %q", language, want)
			}
		}
		if code := words[0][12:14]; rec.Header().Get("Content-Language") != code {
			t.Errorf("Content-Language for %s: %q", language, rec.Header().Get("Content-Language"))
		}
		if vary := strings.Join(rec.Header().Values("Vary"), ", "); !strings.Contains(vary, "Accept-Language") || !strings.Contains(vary, "Cookie") {
			t.Errorf("Vary: %s", vary)
		}
	}
}

func TestLanguageOfTheAccountOverridesTheBrowser(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	x.send("/river/display", "language", "en", "marks", "1", "counts", "1")
	if body := x.open("/river/display", "Accept-Language", "de").Body.String(); !strings.Contains(body, `<html lang="en">`) || !strings.Contains(body, `<option value="en" selected>English</option>`) {
		t.Error("with the setting English, the page is not English")
	}
	x.send("/river/display", "language", "de", "marks", "1", "counts", "1")
	body := x.open("/river/display", "Accept-Language", "en").Body.String()
	for _, want := range []string{`<html lang="de">`, `<option value="de" selected>Deutsch</option>`, "Textgröße", "Wie der Browser"} {
		if !strings.Contains(body, want) {
			t.Errorf("with the setting German, the page has no %q", want)
		}
	}
}

func TestLanguageIsStoredInACookieWithoutAccount(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t)
	c := x.send("/river/display", "language", "de", "marks", "1", "counts", "1").Result().Cookies()
	if len(c) != 1 {
		t.Fatalf("%v", c)
	}
	r := httptest.NewRequest("GET", "/login", nil)
	r.AddCookie(&http.Cookie{Name: c[0].Name, Value: c[0].Value})
	if body := x.do(r).Body.String(); !strings.Contains(body, `<html lang="de">`) || !strings.Contains(body, "Anmelden") {
		t.Error("the page is not German")
	}
}

// An item contains labels in the language of the page. The cache of items must not mix languages.
func TestCachedItemsAreRenderedInTheLanguageOfThePage(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	for range 2 {
		de, en := x.open("/river", "Accept-Language", "de").Body.String(), x.open("/river", "Accept-Language", "en").Body.String()
		if !strings.Contains(de, `<span class="sr"> Details</span>`) || strings.Contains(de, `<span class="sr"> details</span>`) {
			t.Error("the items of the German page have other words")
		}
		if !strings.Contains(en, `<span class="sr"> details</span>`) || strings.Contains(en, `<span class="sr"> Details</span>`) {
			t.Error("the items of the English page have other words")
		}
	}
}

func TestETagOfAnAuthorPageDependsOnTheLanguage(t *testing.T) {
	t.Parallel()
	x := newAuthorHarness(t)
	x.write("alice", author.Published, author.Content{Source: "Rain at last"})
	de, en := x.see("/alice/", "Accept-Language", "de"), x.see("/alice/", "Accept-Language", "en")
	if de.Header().Get("ETag") == "" || de.Header().Get("ETag") == en.Header().Get("ETag") {
		t.Errorf("ETags %q and %q", de.Header().Get("ETag"), en.Header().Get("ETag"))
	}
	if again := x.see("/alice/", "Accept-Language", "de", "If-None-Match", en.Header().Get("ETag")); again.Code != 200 || !strings.Contains(again.Body.String(), "Veröffentlicht mit") {
		t.Errorf("a German page for the copy of an English one: %d", again.Code)
	}
	if again := x.see("/alice/", "Accept-Language", "de", "If-None-Match", de.Header().Get("ETag")); again.Code != 304 || again.Header().Get("Content-Language") != "de" {
		t.Errorf("an unchanged page: %d", again.Code)
	}
}

func TestFeedPagesAreCompletelyInTheLanguageOfTheBrowser(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	g.done("/feeds/filters/save", "values0", "wind", "field0", "any", "op0", "contains", "star", "yes", "read", "yes", "what", "c:News")
	feed := readerui.SourcePath(river.SourceID("http://scripting.com/rss.xml"))
	for path, c := range map[string]struct{ german, english []string }{
		"/feeds":            {[]string{">Titel</option>", ">Ohne Kategorie <"}, []string{"Without a category", ">title<"}},
		"/river":            {[]string{">Feeds in: Ohne Kategorie<", ">Ohne Kategorie<"}, []string{"Without a category"}},
		"/feeds/filters":    {[]string{"Als gelesen markieren und mit Stern markieren", "Kategorie News", "Titel oder Text enthält „wind“"}, []string{"Title or text", "category News"}},
		"/feeds/notices":    {[]string{" per E-Mail an <bdi", ">JSON an ein Programm (Webhook)<"}, []string{"by e-mail to", "JSON to a program"}},
		feed:                {[]string{">Diagnose</a>"}, []string{"Diagnosis"}},
		feed + "/settings":  {[]string{"<title>Scripting News: Einstellungen"}, []string{": settings"}},
		feed + "/diagnosis": {[]string{"<title>Scripting News: Diagnose", "<strong>entscheidet</strong>", ">geändert<", ">gleich<", "<dd>bedingt: nur ein geändertes Dokument</dd>", "48.213 Bytes"}, []string{"decides", ">changed<", "48,213", "conditionally"}},
	} {
		page := g.open(path, "Accept-Language", "de").Body.String()
		has(t, page, c.german...)
		lacks(t, page, c.english...)
	}
}

func TestErrorsAndHeadingsOfAccountPagesAreInTheLanguageOfTheBrowser(t *testing.T) {
	t.Parallel()
	x := newAccountHarness(t)
	for password, want := range map[string]string{
		"hunter2hunter2": "Benutzername und Passwort passen nicht zusammen.",
		"too often":      "In 1 Min. erneut versuchen.",
	} {
		r := httptest.NewRequest("POST", "/login", strings.NewReader(url.Values{"name": {"alice"}, "password": {password}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Accept-Language", "de")
		has(t, x.do(r).Body.String(), want)
	}
	x.as("alice")
	for path, c := range map[string]struct{ german, english []string }{
		"/account/feed":    {[]string{">Eigene Feeds</h1>"}, []string{"Your feeds"}},
		"/account/readers": {[]string{">Eigene Leser</h1>", ">wie gespeichert<"}, []string{"Your readers", "as saved"}},
	} {
		page := x.open(path, "Accept-Language", "de").Body.String()
		has(t, page, c.german...)
		lacks(t, page, c.english...)
	}
}
