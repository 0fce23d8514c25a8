package browsertest

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"

	"cloudburst/client"
)

const (
	phoneWidth, phoneHeight = 390, 844
	smallWidth              = 320
	wideWidth, wideHeight   = 1280, 900
)

// structure lists accessibility errors in the structure of a page.
const structure = `(() => {
	const wrong = [];
	const report = (what, el) => wrong.push(what + (el ? ": " + el.outerHTML.slice(0, 160) : ""));
	const all = (s) => [...document.querySelectorAll(s)];
	const named = (el) => {
		const by = el.getAttribute("aria-labelledby");
		if (by) return by.split(/\s+/).map((id) => document.getElementById(id)?.textContent ?? "").join(" ").trim();
		return (el.getAttribute("aria-label") ?? "").trim() || el.textContent.trim() || el.querySelector("img[alt]")?.alt || el.title;
	};
	if (all("h1").length !== 1) report(all("h1").length + " h1 headings");
	if (all("main").length !== 1) report("no main, or several");
	if (!document.documentElement.lang) report("no language");
	if (!document.title) report("no title");
	if (!document.querySelector("body > header") || !document.querySelector("body > footer")) report("no header or footer");
	if (document.body.firstElementChild?.matches("a.skip[href='#main']") !== true) report("no way to skip to the content");
	let level = 1;
	for (const h of all("main h1, main h2, main h3, main h4, main h5, main h6")) {
		if (h.closest("dialog")) continue;
		const n = +h.tagName[1];
		if (n > level + 1) report("a heading skips a level", h);
		level = n;
	}
	const navs = all("nav").map((n) => n.getAttribute("aria-label") || (n.getAttribute("aria-labelledby") && named(n)));
	if (navs.some((n) => !n)) report("a nav without a name");
	if (new Set(navs).size !== navs.length) report("two navs with one name: " + navs);
	for (const f of all("input:not([type=hidden]), select, textarea")) if (!f.labels?.length && !f.getAttribute("aria-label") && !f.getAttribute("aria-labelledby")) report("a field without a label", f);
	for (const b of all("button, a[href], summary, progress")) if (b.checkVisibility() && !(b.localName === "progress" ? b.getAttribute("aria-label") : named(b))) report("without a name", b);
	for (const i of all("img")) if (!i.hasAttribute("alt")) report("an image without alt", i);
	for (const r of all("[role=region], dialog, aside")) if (!r.getAttribute("aria-label") && !r.getAttribute("aria-labelledby")) report("without a name", r);
	for (const el of all("[aria-labelledby], [aria-describedby], [aria-controls]")) for (const a of ["aria-labelledby", "aria-describedby", "aria-controls"]) for (const id of (el.getAttribute(a) ?? "").split(/\s+/)) if (id && !document.getElementById(id)) report(a + " names a missing id (" + id + ")", el);
	for (const l of all("label[for]")) if (!document.getElementById(l.htmlFor)) report("a label without a field", l);
	const ids = all("[id]").map((e) => e.id);
	for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) { report("two with the id " + id); break; }
	for (const el of all("[tabindex]")) if (el.tabIndex > 0) report("a positive tabindex", el);
	for (const t of all("time")) if (!t.dateTime || isNaN(Date.parse(t.dateTime))) report("an invalid time", t);
	for (const t of all("table")) if (!t.querySelector("th[scope]")) report("a table without headers", t);
	return wrong;
})()`

// tooWide lists elements that extend beyond the width of the window.
const tooWide = `(() => {
	const width = document.documentElement.clientWidth, wrong = [];
	if (document.documentElement.scrollWidth > width) wrong.push("the page is " + document.documentElement.scrollWidth + " wide");
	for (const el of document.body.querySelectorAll("*")) {
		const box = el.getBoundingClientRect();
		if (!box.width || box.right <= width + 1 && box.left >= -1 || el.closest(".sr, .skip, .bar nav") || !el.checkVisibility()) continue;
		let p = el, clipped = false;
		while ((p = p.parentElement)) if (p !== document.body && p !== document.documentElement && getComputedStyle(p).overflowX !== "visible") { clipped = true; break; }
		if (!clipped) wrong.push(Math.round(box.left) + "–" + Math.round(box.right) + ": " + el.outerHTML.slice(0, 160));
	}
	return wrong.slice(0, 5);
})()`

// bottomBar lists errors of the navigation bar on a phone.
const bottomBar = `(() => {
	const bar = document.querySelector(".bar nav"), box = bar.getBoundingClientRect(), wrong = [];
	if (Math.abs(box.bottom - innerHeight) > 1 || box.height < 40 || box.height > 90) wrong.push("the bar is at " + box.top + "–" + box.bottom + " of " + innerHeight);
	for (const a of [...bar.querySelectorAll("a, summary")].filter((a) => a.checkVisibility() && !a.closest("details:not([open]) ul"))) {
		const b = a.getBoundingClientRect(), hit = document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2);
		if (b.width < 40 || b.height < 40) wrong.push(Math.round(b.width) + "×" + Math.round(b.height) + " is small for a finger: " + a.textContent);
		if (!bar.contains(hit)) wrong.push("covered: " + a.textContent);
	}
	scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
	const foot = document.querySelector("footer p").getBoundingClientRect();
	if (foot.bottom > bar.getBoundingClientRect().top) wrong.push("the end of the page is below the bar");
	scrollTo({ top: 0, behavior: "instant" });
	return wrong;
})()`

// light is an expression for the brightness of the page's background, from 0 for black to 1 for
// white.
const light = `(() => { const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g); return (+r + +g + +b) / 765; })()`

// moves lists elements that have animations or transitions.
const moves = `[...document.querySelectorAll("*")].filter((e) => ["", "::before", "::after"].some((p) => { const s = getComputedStyle(e, p); return [s.transitionDuration, s.animationName === "none" ? "0s" : s.animationDuration].some((d) => d.split(", ").some((x) => parseFloat(x) > 0)) || s.scrollBehavior === "smooth"; })).map((e) => e.outerHTML.slice(0, 120))`

// stop is a page of the tour. The tour opens path, waits until the condition ready is true, runs
// the script do, and waits until the condition then is true. Empty fields are skipped.
type stop struct{ name, path, ready, do, then string }

func (r *fullRiver) tour(item int64) []stop {
	source := func(name string) string { return fmt.Sprint("/feeds/", r.ids[name]) }
	return []stop{
		{"river", "/river", `document.querySelector(".item")`, "", ""},
		{"river-keys", "/river", "", `document.getElementById("keys").showModal()`, ""},
		{"river-category", "/river?category=Nature", `document.querySelector(".item")`, "", ""},
		{"river-nested", fmt.Sprint("/river?source=", r.ids["small"]), `document.querySelector("details.fold")`, `document.querySelectorAll(".item details").forEach((d) => { d.open = true })`, ""},
		{"river-source", fmt.Sprint("/river?source=", r.ids["walks"]), `[...document.images].every((i) => i.complete)`, "", ""},
		{"river-rtl", fmt.Sprint("/river?source=", r.ids["rtl"]), "", "", ""},
		{"river-starred", "/river?starred=1", `document.querySelectorAll(".item").length === 2`, "", ""},
		{"river-search", "/river?q=walk+hills", `document.querySelector(".found")`, "", ""},
		{"river-nothing", "/river?q=hippopotamus", `document.getElementById("empty")`, "", ""},
		{"river-end", fmt.Sprint("/river?before=1000.1&source=", r.ids["many"]), "", "", ""},
		{"item", fmt.Sprint("/river/item/", item), "", "", ""},
		{"feeds", "/feeds", `document.querySelector(".source")`, "", ""},
		{"feeds-broken", "/feeds?show=broken", "", "", ""},
		{"feeds-add", "/feeds/add?url=https://example.com/", "", `document.querySelector("main details").open = true`, ""},
		{"feeds-start", "/feeds/start", "", "", ""},
		{"feeds-import", "/feeds/import", "", "", ""},
		{"feeds-notices", "/feeds/notices", "", "", ""},
		{"feeds-categories", "/feeds/categories", "", `document.querySelector("details.fold").open = true`, ""},
		{"feeds-lists", "/feeds/lists", "", "", ""},
		{"feed", source("walks"), "", `document.querySelectorAll("details").forEach((d) => { d.open = !d.closest(".menu") })`, ""},
		{"feed-settings", source("walks") + "/settings", "", "", ""},
		{"feed-diagnosis", source("walks") + "/diagnosis", "", `document.querySelectorAll("details").forEach((d) => { d.open = !d.closest(".menu") })`, ""},
		{"feed-pushed", source("small") + "/diagnosis", "", "", ""},
		{"feeds-select", "/feeds?select=1", `document.querySelector("[name=feed]")`, "", ""},
		{"feed-failing", source("failing"), "", "", ""},
		{"feed-gone", source("gone"), "", "", ""},
		{"rivers", "/rivers/server", "", "", ""},
		{"rivers-category", "/rivers/server/Nature", `document.querySelector(".item")`, "", ""},
		{"front", "/", "", "", ""},
		{"status", "/status", "", "", ""},
		{"nothing", "/river/item/12345678901", "", "", ""},
		{"river-display", "/river?q=walk", "", `document.getElementById("display").open = true`, ""},
		{"river-marks", "/river?category=Nature", `document.querySelector(".marking .rail .num")`, "", ""},
		{"player", fmt.Sprint("/river?source=", r.ids["show"]), "", `document.querySelector("a.play").click()`, `!document.getElementById("player").hidden`},
		{"feeds-choice", "/feeds/add?url=" + r.server.URL + "/paper", "", `document.querySelector(".sheet").requestSubmit()`, `document.querySelectorAll("input[type=radio]").length === 2`},
		{"feeds-confirm", "/feeds/categories", "", `document.querySelector("form[action$='/remove']").requestSubmit()`, `document.querySelector("button.danger")`},
		{"feeds-taken-in", "/feeds/import?url=" + r.server.URL + "/list.opml", "", `document.querySelector("form.sheet").requestSubmit()`, `/import\/./.test(location.pathname)`},
		{"login", "/setup", "", "", ""},
	}
}

func TestRiverPagesFitPhonesAndDesktopsInBothThemes(t *testing.T) {
	t.Parallel()
	r := newFullRiver(t)
	b := newTab(t, r.base)
	b.expect("404") // the tour opens the page of a missing feed
	album := newAlbum(t)
	var item int64
	for it, err := range r.river("").Items(t.Context(), client.ItemQuery{Source: fmt.Sprint(r.ids["walks"]), Limit: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		item = it.ID
	}
	r.indexed("walk hills", 3)
	for _, s := range r.tour(item) {
		b.visit(s, album)
	}
}

// visit opens a page, checks the rules for all pages and takes screenshots.
func (b *tab) visit(s stop, album album) {
	b.t.Helper()
	b.size(wideWidth, wideHeight)
	b.light("light", false)
	b.open(s.path)
	if s.ready != "" {
		b.until(s.name+" is there", s.ready)
	}
	if s.do != "" {
		eval[bool](b, s.do+", true")
	}
	if s.then != "" {
		b.until(s.name+" is as it should be", s.then)
	}
	wrong := eval[[]string](b, structure)
	wrong = append(wrong, eval[[]string](b, tooWide)...)
	if l := eval[float64](b, light); l < 0.8 {
		wrong = append(wrong, fmt.Sprintf("in the light it is %.2f light", l))
	}
	album.take(b, s.name+"-1280-light")
	b.light("dark", false)
	if l := eval[float64](b, light); l > 0.2 {
		wrong = append(wrong, fmt.Sprintf("in the dark it is %.2f light", l))
	}
	album.take(b, s.name+"-1280-dark")
	b.size(phoneWidth, phoneHeight)
	for _, w := range eval[[]string](b, tooWide) {
		wrong = append(wrong, "on a phone: "+w)
	}
	if !strings.Contains(s.name, "keys") {
		wrong = append(wrong, eval[[]string](b, bottomBar)...)
	}
	album.take(b, s.name+"-390-dark")
	b.size(smallWidth, phoneHeight)
	for _, w := range eval[[]string](b, tooWide) {
		wrong = append(wrong, "on a small phone: "+w)
	}
	b.size(phoneWidth, phoneHeight)
	b.light("light", true)
	for _, w := range eval[[]string](b, moves) {
		wrong = append(wrong, "it moves all the same: "+w)
	}
	album.take(b, s.name+"-390-light")
	for _, w := range wrong {
		b.t.Errorf("%s: %s", s.name, w)
	}
}

// light selects the light or dark theme. If still is true, it also requests reduced motion.
func (b *tab) light(scheme string, still bool) {
	b.t.Helper()
	motion := map[bool]string{true: "reduce", false: "no-preference"}[still]
	command(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion}}})
}

// album is the folder for screenshots. If it is "", no screenshots are taken.
type album string

func newAlbum(t *testing.T) album {
	t.Helper()
	dir := os.Getenv("CLOUDBURST_SCREENSHOTS")
	if f := flag.Lookup("test.artifacts"); dir == "" && f != nil && f.Value.String() == "true" {
		dir = t.ArtifactDir()
	}
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return album(dir)
}

// longest is the maximum height of a screenshot in pixels.
const longest = 2400

func (a album) take(b *tab, name string) {
	if a == "" {
		return
	}
	b.t.Helper()
	yes := true
	size := eval[struct{ Width, Height, View float64 }](b, `({ Width: innerWidth, Height: document.documentElement.scrollHeight, View: innerHeight })`)
	if strings.HasPrefix(name, "river-keys") {
		size.Height = size.View
	}
	got := command(b, page.CaptureScreenshot, page.CaptureScreenshotParams{
		CaptureBeyondViewport: &yes, OptimizeForSpeed: &yes,
		Clip: &page.Viewport{Width: size.Width, Height: min(cmp.Or(size.Height, wideHeight), longest), Scale: 1},
	})
	if err := os.WriteFile(filepath.Join(string(a), name+".png"), got.Data, 0o600); err != nil {
		b.t.Fatal(err)
	}
}
