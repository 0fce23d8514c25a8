package browsertest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"cloudburst/client"
	"cloudburst/lab/outside"
)

// workerReady waits until the service worker controls the page and has stored the river.
func (b *tab) workerReady() {
	b.t.Helper()
	b.until("the worker controls the page", `navigator.serviceWorker.controller !== null`)
	b.until("the river is stored", `window.riverStored || (caches.keys().then(async (names) => {
		for (const name of names) if (name.startsWith("cloudburst-river-") && await (await caches.open(name)).match("/river")) window.riverStored = true;
	}), false)`)
}

func TestOfflineRiverShowsCachedItemsAndSendsStarsLater(t *testing.T) {
	t.Parallel()
	server, proxy := newFeedServer(t), newProxy(t)
	cfg := conf(t)
	cfg.PublicURL = proxy.url()
	p := start(t, cfg)
	proxy.connect(p.base)
	for _, name := range []string{"alice", "bob"} { // alice, the first user, owns the river of the server
		if _, err := (&client.Client{Base: p.admin}).AddUser(t.Context(), name, aPassword); err != nil {
			t.Fatal(err)
		}
	}
	p.follow("", server.feed("/feed.xml", "Talk", "", posts(3, "Talk")...).url())
	b := newTab(t, proxy.url())
	for _, part := range []string{"net::ERR_", "Failed to load resource"} {
		b.expect(part) // the test closes connections
	}
	b.signIn("/river")
	b.until("the river has its items", `document.querySelectorAll("#days .item").length >= 3`)
	b.workerReady()

	proxy.connect("") // close the connections while the program runs
	b.open("/river")
	b.until("the last river is shown", `/You are offline; this is the river of \d\d:\d\d/.test(document.getElementById("offline")?.textContent) && document.querySelectorAll("#days .item").length >= 3`)
	b.holds("it has its styles", `getComputedStyle(document.querySelector(".bar")).display === "flex"`)
	id := eval[string](b, `document.querySelector("#days .item").id.slice(1)`)
	b.click("#days .item .star")
	b.until("the star is shown", `document.querySelector("#days .item .star").ariaPressed === "true" && document.getElementById("news").textContent === "Starred"`)
	b.open("/feeds")
	b.until("other pages need a connection", `document.querySelector("h1").textContent === "You are offline"`)

	proxy.connect(p.base)
	b.open("/river")
	b.until("the river is the server's", `document.getElementById("days") && !document.getElementById("offline")`)
	outside.Until(t, "the star is stored", func() bool {
		for it, err := range p.river("").Items(t.Context(), client.ItemQuery{Starred: true}) {
			if err == nil && strconv.FormatInt(it.ID, 10) == id {
				return true
			}
		}
		return false
	})

	// When alice signs out, the browser deletes the data that it stored for her.
	b.open("/river")
	b.click(".me summary")
	b.click(`.me form[action="/logout"] button`)
	b.until("she is signed out", `document.querySelector(".me a[href='/login']")`)
	const riverGone = `window.riverGone || (caches.keys().then((names) => { window.riverGone = !names.some((name) => name.startsWith("cloudburst-river-")); }), false)`
	b.until("the stored river is removed", riverGone)
	proxy.connect("")
	b.open("/river")
	b.until("the river is no longer stored", `document.querySelector("h1").textContent === "You are offline"`)
	proxy.connect(p.base)

	// So it does when bob deletes his account.
	b.open("/login?next=%2Friver")
	b.fill("[name=name]", "bob")
	b.fill("[name=password]", aPassword)
	b.click("form.sheet button")
	b.until("bob is signed in", `location.pathname === "/river"`)
	b.workerReady()
	b.open("/account")
	b.click("#s-delete ~ .fold > summary")
	b.fill("#d-name", "bob")
	b.fill("#d-password", aPassword)
	b.click("button.danger")
	b.until("the account is deleted", `location.pathname === "/login" && document.querySelector(".note").textContent.startsWith("Your account is deleted")`)
	b.until("the river of bob is removed", riverGone)
}

// olderWorker serves the program with an older version of the service worker, until the test
// calls replace.
func olderWorker(t *testing.T, base string) (address string, replace func()) {
	t.Helper()
	to, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	var replaced atomic.Bool
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
		r.Out.Header.Set("Accept-Encoding", "identity")
	}}
	proxy.ModifyResponse = func(res *http.Response) error {
		if res.Request.URL.Path != "/sw.js" || replaced.Load() {
			return nil
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return err
		}
		text := regexp.MustCompile(`^const version = "[0-9a-f]+"`).ReplaceAllString(string(body), `const version = "older"`)
		res.Body = io.NopCloser(strings.NewReader(text))
		res.ContentLength = int64(len(text))
		res.Header.Set("Content-Length", strconv.Itoa(len(text)))
		return nil
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL, func() { replaced.Store(true) }
}

func TestOlderServiceWorkerIsReplaced(t *testing.T) {
	t.Parallel()
	p := start(t, conf(t))
	if _, err := (&client.Client{Base: p.admin}).AddUser(t.Context(), "alice", aPassword); err != nil {
		t.Fatal(err)
	}
	address, replace := olderWorker(t, p.base)
	b := newTab(t, address)
	b.signIn("/river")
	b.workerReady()
	if !eval[bool](b, `caches.keys().then((names) => names.includes("cloudburst-shell-older"))`) {
		t.Error("the worker is not the older one")
	}
	replace()
	eval[bool](b, `navigator.serviceWorker.getRegistration().then((r) => r.update()).then(() => true)`)
	b.until("the new one waits", `window.waits || (navigator.serviceWorker.getRegistration().then((r) => { window.waits = r.waiting !== null; }), false)`)
	eval[bool](b, `Object.defineProperty(document, "hidden", { value: true }) && document.dispatchEvent(new Event("visibilitychange"))`)
	b.until("the new worker takes over while the page is hidden: the stores of the older one are removed", `window.older || (caches.keys().then((names) => { window.older = names.length > 0 && !names.some((name) => name.endsWith("-older")); }), false)`)
	b.open("/river") // on this request, the new worker stores the river
	b.until("the new one stores the river", `window.stored || (caches.keys().then((names) => { window.stored = names.some((name) => name.startsWith("cloudburst-river-")); }), false)`)
}
