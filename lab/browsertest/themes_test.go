package browsertest

import (
	"strings"
	"testing"

	"cloudburst/client"
	"cloudburst/internal/author"
)

// faint lists texts whose contrast with their background is below 4.5 to 1. It also reports a
// page that scrolls sideways.
const faint = `(() => {
	const rgb = (c) => (c.match(/[\d.]+/g) || []).map(Number);
	const light = (c) => {
		const [r, g, b] = c.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const ground = (e) => {
		for (; e; e = e.parentElement) {
			const c = rgb(getComputedStyle(e).backgroundColor);
			if (c.length === 3) return c;
		}
		return [255, 255, 255];
	};
	const wrong = document.documentElement.scrollWidth > innerWidth ? ["the page is " + document.documentElement.scrollWidth + " pixels wide"] : [];
	for (const e of document.querySelectorAll("body *")) {
		if (!e.checkVisibility() || e.closest(".skip, .sr") || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
		const [a, b] = [light(rgb(getComputedStyle(e).color).slice(0, 3)), light(ground(e))];
		const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (contrast < 4.5) wrong.push(contrast.toFixed(2) + ": " + e.outerHTML.slice(0, 100));
	}
	return wrong;
})()`

func TestThemesOfAuthorsAreReadableInLightAndDark(t *testing.T) {
	t.Parallel()
	p := start(t, conf(t))
	writes := &client.Client{Base: p.admin}
	if _, err := writes.AddUser(t.Context(), "alice", aPassword); err != nil {
		t.Fatal(err)
	}
	title, text := "A title", "Some **text** with a [link](https://example.org/), `code` and #tag.\n\n> A quotation.\n\n- one\n- two"
	post, err := writes.CreatePost(t.Context(), "alice", client.PostChange{Title: &title, Source: &text}, "")
	if err != nil {
		t.Fatal(err)
	}
	site := client.Site{Client: writes, User: "alice"}
	if _, err := site.SavePage(t.Context(), "about", client.Page{Title: "About", Source: text, InMenu: true}); err != nil {
		t.Fatal(err)
	}
	b := newTab(t, p.base)
	paths := []string{"/alice/", post.URL[strings.Index(post.URL, "/alice/"):], "/alice/about", "/alice/search?q=text", "/alice/archive/", "/alice/formats"}
	for _, design := range author.Designs() {
		if _, err := writes.SetProfile(t.Context(), "alice", client.Profile{Title: "Alice", Blurb: "Words about me", Page: &client.PageSettings{
			Design: string(design), Links: []client.ProfileLink{{Title: "Elsewhere", URL: "https://else.example/"}}}}); err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			b.open(path)
			for _, scheme := range []string{"light", "dark"} {
				b.light(scheme, true)
				for _, width := range []int64{390, 1280} {
					b.size(width, 844)
					for _, wrong := range eval[[]string](b, faint) {
						t.Errorf("theme %q, %s, %s, %d pixels: %s", design, path, scheme, width, wrong)
					}
				}
			}
		}
	}
}
