package browsertest

import (
	"fmt"
	"testing"
)

// shifts describes each layout shift of a page: its value, its time, and what moved from where to
// where. It ignores shifts until the HTML is parsed, because a slow browser shows incomplete elements
// before that. It also ignores shifts within half a second after a key or a click.
const shifts = `new Promise((done) => {
	const all = [];
	const parsed = performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd;
	const place = (r) => [r.x, r.y, r.width, r.height].map(Math.round).join(" ");
	const moved = (s) => (s.node?.outerHTML ?? s.node?.textContent ?? "").slice(0, 150) + " from " + place(s.previousRect) + " to " + place(s.currentRect);
	new PerformanceObserver((list) => {
		for (const e of list.getEntries()) if (e.value > 0 && !e.hadRecentInput && e.startTime > parsed) all.push(e.value + " after " + Math.round(e.startTime - parsed) + " ms: " + e.sources.map(moved).join("; "));
	}).observe({ type: "layout-shift", buffered: true });
	requestAnimationFrame(() => requestAnimationFrame(() => done(all.join("\n"))));
})`

// scrolled scrolls to the end of a page in steps, so that all images of the page load.
const scrolled = `(async () => {
	for (let y = 0; y < document.documentElement.scrollHeight; y += 200) {
		scrollTo({ top: y, behavior: "instant" });
		await new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
	}
	return true;
})()`

func TestLargeImageInANestedItemStaysWithinThePage(t *testing.T) {
	t.Parallel()
	p, server := start(t, conf(t)), newFeedServer(t)
	news := posts(1, "News")
	news[0].More = fmt.Sprintf(`<source:outline text="&lt;img src=&quot;%s/wide.png&quot; width=&quot;9000&quot; height=&quot;9000&quot;&gt;"><source:outline text="below"/></source:outline>`, server.URL)
	p.follow("", server.feed("/nested.xml", "Nested", "", news...).url())
	b := newTab(t, p.base)
	for _, width := range []int64{1280, 390} {
		b.size(width, 900)
		b.open("/river")
		eval[bool](b, `document.querySelectorAll(".item details").forEach((d) => { d.open = true }), true`)
		b.until("the image is there", `document.querySelector(".inside summary img")?.complete`)
		b.holds("the page is as wide as the window", `document.documentElement.scrollWidth <= innerWidth`)
	}
}

func TestImagesWithoutSizesDoNotShiftThePage(t *testing.T) {
	t.Parallel()
	p, server := start(t, conf(t)), newFeedServer(t)
	server.put("/missing.png", "status", "404")
	news := posts(24, "News")
	for i := range news {
		switch i % 4 {
		case 0:
			news[i].Text = fmt.Sprintf(`<p><img src="%s/hill%d.png" alt="A hill"></p><p>Words below it.</p>`, server.URL, i)
		case 1:
			news[i].Text = fmt.Sprintf(`<p>Words <img src="%s/line%d.png"> around it, and <img src="%[1]s/smile.png" alt="😀">.</p>`, server.URL, i)
		case 2:
			news[i].Text = fmt.Sprintf(`<p><img src="%s/missing.png"></p><p><img src="%[1]s/wide%d.png" width="900"></p>`, server.URL, i)
		case 3:
			news[i].More = fmt.Sprintf(`<enclosure url="%s/file%d.png" type="image/png" length="1000"/>`, server.URL, i)
		}
	}
	p.follow("", server.feed("/hills.xml", "Hills", "", news...).url())
	for _, width := range []int64{1280, 390} {
		b := newTab(t, p.base)
		b.expect("502") // the missing image has this status
		b.size(width, 900)
		for _, visit := range []string{"first", "second"} {
			b.open("/river")
			b.until("images are there", `[...document.querySelectorAll(".item img:not(.mono img)")].slice(0, 2).every((i) => i.complete)`)
			eval[bool](b, scrolled)
			b.until("all images are there", `[...document.querySelectorAll(".e-content img, .picture img, .files img")].every((i) => i.complete)`)
			if moved := eval[string](b, shifts); moved != "" {
				t.Errorf("%d pixels wide, at the %s visit: the page shifts by %s", width, visit, moved)
			}
			b.holds("no image is wider than the page", `document.documentElement.scrollWidth <= innerWidth`)
		}
		b.holds("the sizes of images that were read are known", `[...document.querySelectorAll(".e-content img")].filter((i) => i.naturalWidth).every((i) => +i.getAttribute("width") === i.naturalWidth && +i.getAttribute("height") === i.naturalHeight)`)
	}
}
