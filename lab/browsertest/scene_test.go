package browsertest

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/color/palette"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"cloudburst/client"
	"cloudburst/lab/outside"
)

// publish clicks the button to publish, and waits until the post is published. It returns the
// time of the click.
func (b *tab) publish() (at time.Time) {
	b.t.Helper()
	at = time.Now()
	b.click("#w-go")
	b.until("the post is published", `/[?&]done=/.test(location.search)`)
	return at
}

// typeText types the text of a post into the form.
func (b *tab) typeText(text string) {
	b.t.Helper()
	b.click("#w-source")
	b.keys(text)
}

// write writes and publishes a post. It returns the time of the click.
func (b *tab) write(text string) (at time.Time) {
	b.t.Helper()
	b.open("/write")
	b.typeText(text)
	return b.publish()
}

// subscribed waits until a feed has at least one subscriber.
func (p *running) subscribed(feed string) {
	p.t.Helper()
	outside.Until(p.t, "a subscriber of "+feed, func() bool {
		for s, err := range (&client.Client{Base: p.admin}).Subscriptions(p.t.Context(), client.SubscriptionQuery{Topic: feed}) {
			return err == nil && s.Callback != ""
		}
		return false
	})
}

// TestPostReachesTheRiverOfAnotherServer follows a post from the author to a reader on another
// server. The author publishes the post, which changes the feed and pings the hub. The hub
// notifies the aggregator of the other server. The aggregator reads the feed, and the open page
// of the reader shows the item. This usually takes less than a second.
//
// spec:rsscloud-2009#aggregator-reads-feed
func TestPostReachesTheRiverOfAnotherServer(t *testing.T) {
	t.Parallel()
	there, here := start(t, conf(t)), start(t, conf(t))
	writer := there.author(t, "alice")
	writer.write("Good morning.")
	feed := there.base + "/alice/rss.xml"
	here.follow("", feed)
	there.subscribed(feed)
	writer.size(720, 760)

	reader := newTab(t, here.base)
	reader.size(720, 760)
	reader.light("light", true) // no animations, because the test takes a screenshot
	reader.open("/river")
	reader.until("the page is live", `document.getElementById("live-text").textContent === "Live" && document.getElementById("days").textContent.includes("Good morning.")`)
	eval[bool](reader, watchNews)
	eval[bool](reader, `window.same = true`)

	writer.open("/write")
	writer.typeText("The heron is back on the weir. It does not mind the rain at all.")
	form := writer.screenshot()
	at := writer.publish()
	reader.until("the post is announced", `window.newsAt`)
	// The item came by a push: the next poll is due after polling.Shortest, which is longer than
	// waitTimeout.
	t.Logf("from the click at one server to the reader's page at another: %v", reader.delay(at).Round(time.Millisecond))
	reader.until("the post is shown", `document.querySelector("#days .item .e-content")?.textContent.includes("The heron is back")`)
	reader.holds("the page was not loaded again", `window.same === true`)
	if album := newAlbum(t); album != "" {
		scene(t, filepath.Join(string(album), "scene.png"), form, reader.screenshot())
	}
}

func TestPostReachesTheRiverOfTheSameServer(t *testing.T) {
	t.Parallel()
	p := start(t, conf(t))
	writer := p.author(t, "alice")
	writer.write("Good morning.")
	reader := p.author(t, "bob")
	reader.open("/feeds/add")
	reader.fill("#a-url", p.base+"/alice/rss.xml")
	reader.click(`form[action="/feeds/add"] .go button`)
	reader.until("he follows it", `/^\/feeds\/\d+$/.test(location.pathname)`)
	reader.open("/river")
	reader.until("the page is live", `document.getElementById("live-text").textContent === "Live" && document.querySelectorAll("#days .item").length === 1`)
	eval[bool](reader, watchNews)
	eval[bool](reader, `window.same = true`)
	at := writer.write("It rains.")
	reader.until("the post is announced", `window.newsAt`)
	t.Logf("from the click to the reader's page: %v", reader.delay(at).Round(time.Millisecond))
	reader.until("the post is shown", `document.querySelector("#days .item .e-content")?.textContent.includes("It rains.")`)

	// The author publishes an outline with an image and a folded headline.
	dir := t.TempDir()
	hill := filepath.Join(dir, "hill.png")
	if err := os.WriteFile(hill, screenshot(), 0o600); err != nil {
		t.Fatal(err)
	}
	writer.open("/write")
	writer.click(`label[for="ask-title"]`)
	writer.fill("#w-title", "Plans for the winter")
	writer.click(`label[for="ask-files"]`)
	writer.do("choose a file", chromedp.SetUploadFiles(chromedp.CSS("#w-upload"), []string{hill}))
	writer.until("the file is in the form", `document.querySelector(".filelist .file")`)
	writer.openOutliner()
	writer.keys("The **path**" + kb.Enter)
	writer.keys(kb.Tab + "Stones" + kb.Enter + "Gravel" + kb.Enter + "from the pit" + kb.Home + kb.Tab)
	writer.keys(kb.ArrowUp)
	writer.chord(2, ".")
	writer.outline("writing", "The **path**(Stones |Gravel!(from the pit))")
	eval[bool](reader, `window.newsAt = undefined, true`)
	at = writer.publish()
	reader.until("the outline is announced", `window.newsAt`)
	t.Logf("a hierarchical post with an image: %v", reader.delay(at).Round(time.Millisecond))
	const item = `document.querySelector("#days .item")`
	reader.until("it is shown with its image, folded", item+`.querySelector("details.fold:not([open])") && `+item+`.textContent.includes("Plans for the winter") && `+item+`.querySelector("img, a[href$='hill.png']")`)
	reader.holds("its words occur once", item+`.textContent.split("Plans for the winter").length === 2 && `+item+`.textContent.split("from the pit").length === 2`)
	reader.click("#days .item details.fold > summary")
	reader.click("#days .item details.fold details.fold > summary")
	reader.holds("what is inside can be seen", `[...`+item+`.querySelectorAll(".inside")].filter((e) => e.checkVisibility()).map((e) => e.textContent).join().includes("Stones")`)
	reader.holds("its Markdown is marked up", item+`.querySelector(".inside strong").textContent === "path"`)
	reader.holds("the page was not loaded again", `window.same === true`)

	// The page of the post shows the outline as the author folded it.
	writer.open("/alice/")
	writer.holds("the author's page has it, with what was folded folded", `document.querySelector(".nodes, .inside") && [...document.querySelectorAll("details.fold")].some((d) => !d.open && d.textContent.includes("from the pit")) && [...document.querySelectorAll("details.fold[open]")].some((d) => d.textContent.includes("Stones"))`)

	// Opening the post in the form again preserves the outline.
	writer.open("/write/posts")
	href := eval[string](writer, `[...document.querySelectorAll("a[href^='/write/']")].find((a) => /^\/write\/\d+$/.test(a.getAttribute("href")))?.getAttribute("href") ?? ""`)
	writer.open(href)
	writer.outline("opening it again", "The **path**(Stones Gravel!(from the pit))")
}

// screenshot returns an image of the window's content.
func (b *tab) screenshot() image.Image {
	b.t.Helper()
	got := command(b, page.CaptureScreenshot, page.CaptureScreenshotParams{})
	m, err := png.Decode(bytes.NewReader(got.Data))
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

// scene writes an image of two windows side by side to a file, with few colours so that the file
// is small.
func scene(t *testing.T, file string, left, right image.Image) {
	t.Helper()
	const gap = 24
	l, r := left.Bounds(), right.Bounds()
	all := image.Rect(0, 0, l.Dx()+r.Dx()+3*gap, max(l.Dy(), r.Dy())+2*gap)
	m := image.NewRGBA(all)
	draw.Draw(m, all, image.NewUniform(color.RGBA{0xd9, 0xe4, 0xea, 255}), image.Point{}, draw.Src)
	draw.Draw(m, l.Sub(l.Min).Add(image.Pt(gap, gap)), left, l.Min, draw.Src)
	draw.Draw(m, r.Sub(r.Min).Add(image.Pt(l.Dx()+2*gap, gap)), right, r.Min, draw.Src)
	few := image.NewPaletted(all, colours(m))
	draw.Draw(few, all, m, image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, few); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 300_000 {
		t.Errorf("the image of the scene has %d bytes", b.Len())
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Log(fmt.Sprint("the image of the scene: ", file))
}

// colours returns a palette of the most frequent colours of an image.
func colours(m *image.RGBA) color.Palette {
	count := map[color.RGBA]int{}
	for y := m.Rect.Min.Y; y < m.Rect.Max.Y; y++ {
		for x := m.Rect.Min.X; x < m.Rect.Max.X; x++ {
			count[m.RGBAAt(x, y)]++
		}
	}
	var p color.Palette
	for len(p) < 160 && len(count) > 0 {
		var most color.RGBA
		for c, n := range count {
			if n > count[most] {
				most = c
			}
		}
		if count[most] == 0 {
			break
		}
		p = append(p, most)
		delete(count, most)
	}
	return append(p, palette.WebSafe[:min(216, 256-len(p))]...)
}
