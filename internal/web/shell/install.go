package shell

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"cloudburst/internal/account"
	"cloudburst/internal/route"
	"cloudburst/internal/web/locale"
)

// ReaderHeader is the name of the header that identifies the reader of a page for the service
// worker. The value is a hash of the user and a hash of the session, 12 hexadecimal digits each.
// Without a session, the header is missing.
const ReaderHeader = "Cloudburst-Reader"

// installRoutes lists what makes the site an app: manifest, service worker, offline page and share
// target.
func (s *Shell) installRoutes() []route.Route {
	get := func(path, purpose string, do http.HandlerFunc) route.Route {
		return route.Route{Method: http.MethodGet, Path: path, Handler: do, Purpose: purpose}
	}
	all := []route.Route{
		get("/manifest.webmanifest", "The web app manifest: name, icons, shortcuts and share target.", s.serveManifest),
		get("/sw.js", "The service worker: the last river without a connection, and marks made meanwhile.", s.serveWorker),
		get("/offline", "The page that the service worker shows without a connection.", s.offlinePage),
	}
	if s.Sessions == nil || !s.Reads && !s.Writes {
		return all
	}
	return append(all, route.Route{Method: http.MethodGet, Path: "/share", Handler: s.WithSession(s.share), Protection: route.Session,
		Purpose: "The share target of the app: a URL leads to the form that adds a feed, a text to the composer."})
}

// manifest is the web app manifest.
//
// See https://www.w3.org/TR/appmanifest/ and https://w3c.github.io/web-share-target/.
type manifest struct {
	ID          string       `json:"id"`
	Name        string       `json:"name"`
	ShortName   string       `json:"short_name"`
	Description string       `json:"description"`
	Language    string       `json:"lang"`
	StartURL    string       `json:"start_url"`
	Scope       string       `json:"scope"`
	Display     string       `json:"display"`
	Theme       string       `json:"theme_color"`
	Background  string       `json:"background_color"`
	Icons       []icon       `json:"icons"`
	Shortcuts   []shortcut   `json:"shortcuts,omitempty"`
	ShareTarget *shareTarget `json:"share_target,omitempty"`
}

type icon struct {
	Src     string `json:"src"`
	Sizes   string `json:"sizes"`
	Type    string `json:"type"`
	Purpose string `json:"purpose,omitempty"`
}

type shortcut struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

type shareTarget struct {
	Action string            `json:"action"`
	Method string            `json:"method"`
	Coding string            `json:"enctype"`
	Params map[string]string `json:"params"`
}

func (s *Shell) serveManifest(rw http.ResponseWriter, r *http.Request) {
	paper, l := s.assets.light.color["paper"], s.Locale(r)
	m := manifest{ID: "/", Name: "Cloudburst", ShortName: "Cloudburst", Description: l.Words("Read, write and share feeds."), Language: l.Code,
		StartURL: "/", Scope: "/", Display: "standalone", Theme: paper, Background: paper,
		Icons: []icon{
			{s.assets.url("icon-192.png"), "192x192", "image/png", ""}, {s.assets.url("icon-512.png"), "512x512", "image/png", ""},
			{s.assets.url("icon-maskable.png"), "512x512", "image/png", "maskable"}, {"/favicon.svg", "any", "image/svg+xml", ""},
		}}
	if s.Reads {
		m.ID, m.StartURL = "/river", "/river"
		m.Shortcuts = append(m.Shortcuts, shortcut{l.Words("River"), "/river"})
	}
	if s.Sessions != nil && s.Writes {
		m.Shortcuts = append(m.Shortcuts, shortcut{l.Words("Write"), "/write"})
	}
	if s.Sessions != nil && (s.Reads || s.Writes) {
		m.ShareTarget = &shareTarget{"/share", http.MethodGet, "application/x-www-form-urlencoded", map[string]string{"title": "title", "text": "text", "url": "url"}}
	}
	body, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	rw.Header().Set("Content-Type", "application/manifest+json")
	rw.Header().Add("Vary", "Accept-Language")
	rw.Header().Add("Vary", "Cookie")
	rw.Header().Set("Cache-Control", "no-cache")
	_, _ = rw.Write(append(body, '\n'))
}

// workerFiles returns the files of the river, which work without a connection.
func workerFiles() []string {
	return []string{"base.css", "base.js", "install.js", "river.js", "keys.js", "player.js", "itempage.css", "sepia.css", "favicon.svg", "icon-192.png"}
}

// worker is the script of the service worker, with its version and its files.
var worker = sync.OnceValue(func() asset {
	script, _ := workerScript.ReadFile("worker/serviceworker.js") // cannot fail: the file is embedded
	urls := loadAssets().urls
	files := []string{"/offline"}
	for _, name := range workerFiles() {
		files = append(files, urls[name])
	}
	list, _ := json.Marshal(files) // a list of strings can always be encoded
	body := append([]byte("const files = "+string(list)+";\n"), script...)
	body = append([]byte(`const version = "`+contentVersion(body)+"\";\n"), body...)
	return newAsset(".js", body, gzip.BestCompression)
})

// contentVersion returns a hash of the worker, of all static files, of all templates and of their
// translations.
func contentVersion(script []byte) string {
	sum := sha256.New()
	sum.Write(script)
	sum.Write([]byte(strings.Join(slices.Sorted(maps.Values(loadAssets().urls)), "\n")))
	entries, _ := fs.ReadDir(templateFiles, "templates") // cannot fail: the folder is embedded
	for _, e := range entries {
		b, _ := templateFiles.ReadFile("templates/" + e.Name())
		sum.Write(b)
	}
	locale.Hash(sum)
	return hex.EncodeToString(sum.Sum(nil)[:6])
}

// serveWorker serves the service worker. Browsers look for a new service worker at every visit, so
// caches must revalidate the script each time.
func (s *Shell) serveWorker(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Service-Worker-Allowed", "/")
	serve(rw, r, worker(), "no-cache")
}

// offlinePage serves the page without a user: the service worker shows it to everyone.
func (s *Shell) offlinePage(rw http.ResponseWriter, r *http.Request) {
	v := s.NewView(r, "You are offline")
	v.User = ""
	v.Theme = ""
	_ = s.Render(rw, r, http.StatusOK, "offline", v)
}

// share decides what a shared text is: a URL becomes a feed to add, any other text a post.
func (s *Shell) share(rw http.ResponseWriter, r *http.Request, _ account.Session) error {
	return Redirect(rw, r, s.shareTarget(r.URL.Query()))
}

// shareTarget returns the page for a shared title, text and url. Apps often pass a URL as the text.
func (s *Shell) shareTarget(q url.Values) string {
	title, text, address := strings.TrimSpace(q.Get("title")), strings.TrimSpace(q.Get("text")), strings.TrimSpace(q.Get("url"))
	if address == "" && IsSafeURL(text) && !strings.ContainsAny(text, " \n\t") {
		address, text = text, ""
	}
	if s.Reads && IsSafeURL(address) {
		return "/feeds/add?" + url.Values{"url": {address}}.Encode()
	}
	if !s.Writes {
		return "/feeds/add"
	}
	var parts []string
	for _, part := range []string{title, text, address} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return "/write"
	}
	return "/write?" + url.Values{"text": {strings.Join(parts, "\n\n")}}.Encode()
}

// setReader names the reader of a page for the service worker, which keeps the last river of this
// session only.
func setReader(h http.Header, session account.Session) {
	if session.User != "" {
		h.Set(ReaderHeader, shortHash("user "+session.User)+"."+shortHash("session "+session.ID))
	}
}

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}
