package web

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"cloudburst/internal/web/shell"
)

func TestManifestNamesIconsThatExist(t *testing.T) {
	t.Parallel()
	h := newRiverHarness(t).pages
	rec := get(t, h, "/manifest.webmanifest")
	var m struct {
		ID, Name, Scope, Display string
		StartURL                 string `json:"start_url"`
		Icons                    []struct{ Src, Sizes, Type, Purpose string }
		Shortcuts                []struct{ URL string }
		ShareTarget              *struct {
			Action, Method, Enctype string
			Params                  map[string]string
		} `json:"share_target"`
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &m); err != nil || rec.Header().Get("Content-Type") != "application/manifest+json" {
		t.Fatalf("%v, %v", err, rec.Header())
	}
	if m.Name != "Cloudburst" || m.ID != "/river" || m.StartURL != "/river" || m.Scope != "/" || m.Display != "standalone" || len(m.Shortcuts) != 1 {
		t.Errorf("the manifest is %s", rec.Body)
	}
	if s := m.ShareTarget; s == nil || s.Action != "/share" || s.Method != "GET" || s.Enctype != "application/x-www-form-urlencoded" || s.Params["url"] != "url" {
		t.Errorf("the share target is %+v", s)
	}
	purposes := ""
	for _, icon := range m.Icons {
		purposes += icon.Purpose
		if rec := get(t, h, icon.Src); rec.Code != 200 || rec.Header().Get("Content-Type") != icon.Type {
			t.Errorf("%s: %d %v", icon.Src, rec.Code, rec.Header())
		}
	}
	if purposes != "maskable" || len(m.Icons) != 4 {
		t.Errorf("the icons are %+v", m.Icons)
	}
	page := get(t, h, "/login").Body.String()
	for _, part := range []string{`rel="manifest" href="/manifest.webmanifest"`, `name="theme-color"`, `rel="apple-touch-icon"`} {
		if !strings.Contains(page, part) {
			t.Errorf("a page lacks %s", part)
		}
	}
	if !strings.Contains(shell.Policy, "manifest-src 'self'") {
		t.Error("the policy of the pages forbids the manifest")
	}
}

func TestServiceWorkerHasAVersionAndIsNotCached(t *testing.T) {
	t.Parallel()
	w, _ := newWeb(t, newFake())
	h := w.Routes()
	rec := get(t, h, "/sw.js")
	for name, want := range map[string]string{"Service-Worker-Allowed": "/", "Cache-Control": "no-cache", "Content-Type": "text/javascript; charset=utf-8", "Content-Security-Policy": shell.Policy} {
		if got := rec.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	m := regexp.MustCompile(`^const version = "[0-9a-f]{12}";\nconst files = (\[.*\]);\n`).FindStringSubmatch(rec.Body.String())
	if m == nil {
		t.Fatalf("the worker begins with %.200s", rec.Body)
	}
	var files []string
	if err := json.Unmarshal([]byte(m[1]), &files); err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if rec := get(t, h, path); rec.Code != 200 {
			t.Errorf("%s, which the worker stores: %d", path, rec.Code)
		}
	}
}

func TestOfflinePageContainsNoUserData(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	rec := x.open("/offline")
	check(t, rec)
	if got := x.open("/river").Header().Get(shell.ReaderHeader); !regexp.MustCompile(`^[0-9a-f]{12}\.[0-9a-f]{12}$`).MatchString(got) {
		t.Errorf("the river names its reader as %q", got)
	}
	if got := get(t, x.pages, "/log").Header().Get(shell.ReaderHeader); got != "" {
		t.Errorf("signed out, a page names %q as its reader", got)
	}
	if strings.Contains(rec.Body.String(), "alice") || !strings.Contains(rec.Body.String(), "You are offline") {
		t.Errorf("the page is %s", rec.Body)
	}
}

func TestSharedURLOpensAddFeedAndSharedTextOpensTheComposer(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t)
	shared := func(query string) string { return x.open("/share?" + query).Header().Get("Location") }
	x.as("alice")
	for query, want := range map[string]string{
		"url=https%3A%2F%2Fa.example%2F&title=A":         "/feeds/add?url=https%3A%2F%2Fa.example%2F",
		"text=https%3A%2F%2Fa.example%2Frss.xml":         "/feeds/add?url=https%3A%2F%2Fa.example%2Frss.xml",
		"text=see+https%3A%2F%2Fa.example%2F&title=Note": "/write?text=Note%0A%0Asee+https%3A%2F%2Fa.example%2F",
		"url=javascript%3Aalert(1)":                      "/write?text=javascript%3Aalert%281%29",
		"":                                               "/write",
	} {
		if got := shared(query); got != want {
			t.Errorf("%s leads to %s, want %s", query, got, want)
		}
	}
	if body := x.open("/write?text=Note%0A%0Asee+this").Body.String(); !strings.Contains(body, "Note\n\nsee this</textarea>") {
		t.Error("the composer does not hold the shared text")
	}
	x.cookie = ""
	if got := shared("text=hello"); got != "/login?next="+url.QueryEscape("/share?text=hello") {
		t.Errorf("signed out: %s", got)
	}
}
