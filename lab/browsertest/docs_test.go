package browsertest

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp/kb"

	"cloudburst/protocol/rsscloud"
)

func TestDocumentationPagesAreNavigableAndSearchable(t *testing.T) {
	t.Parallel()
	p := start(t, conf(t))
	b := newTab(t, p.base)
	b.expect("404") // the test opens an unknown page
	album := newAlbum(t)
	for _, s := range []stop{
		{"docs", "/docs", "", "", ""}, {"docs-search", "/docs?q=restore+backup", "", "", ""}, {"docs-none", "/docs?q=zeppelin", "", "", ""},
		{"docs-page", "/docs/reference/rsscloud", "", "", ""}, {"docs-picture", "/docs/guides/nodes", "", "", ""}, {"docs-start", "/docs/get-started/reader", "", "", ""},
		{"docs-tables", "/docs/reference/settings", "", "", ""},
	} {
		b.visit(s, album)
	}
	for _, c := range []struct {
		scripts bool
		width   int64
	}{{true, 1280}, {false, 390}, {false, 1280}, {true, 390}} {
		command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !c.scripts})
		b.size(c.width, 900)
		b.open("/docs")
		b.fill("#docs-q", "verify restore")
		b.keys(kb.Enter)
		b.until("sections are found", `document.querySelectorAll(".docsfound li mark").length > 0`)
		b.click(".docsfound a")
		b.until("a section is open", `location.pathname.startsWith("/docs/guides/backup") && document.querySelector(".guide h1")`)
		b.click(".docsturn a[rel=next]")
		b.until("the next page is open", `document.querySelector(".guide h1") && !location.pathname.endsWith("/backup")`)
		if c.width == 390 {
			b.click(".docsall summary")
			b.click(`.docsall a[href="/docs/reference/protocols"]`)
		} else {
			b.holds("the side bar marks the page", `document.querySelector(".docstree [aria-current=page]").checkVisibility()`)
			b.click(`.docstree a[href="/docs/reference/protocols"]`)
		}
		b.until("the protocols name this server", fmt.Sprintf(`location.pathname === "/docs/reference/protocols" && document.querySelector(".copy code").textContent.includes(%q)`, `domain="127.0.0.1"`))
		b.holds("blocks can be copied with scripts only", fmt.Sprintf(`document.querySelector(".copy button").checkVisibility() === %t`, c.scripts))
	}
}

// TestGetStartedScreenshotsAreWritten writes the images for docs/get-started to the folder for
// screenshots.
func TestGetStartedScreenshotsAreWritten(t *testing.T) {
	t.Parallel()
	album := newAlbum(t)
	p, server := start(t, conf(t)), newFeedServer(t)
	walks := server.feed("/walks.xml", "Walks in the hills", rsscloud.CloudAt(p.base).String(),
		post{Title: "Up the old mill path", Text: "<p>The gate is open again, and the stones are dry.</p>"}, post{Title: "Fog at the pass", Text: "<p>We saw the valley for a minute.</p>"})
	garden := server.feed("/garden.xml", "The garden log", "", post{Title: "Beans are up", Text: "<p>Three rows, all of them.</p>"})
	alice := p.author(t, "alice")
	p.follow("", walks.url(), "Outside")
	p.follow("", garden.url(), "Outside")
	alice.size(1280, 760)
	alice.light("light", true)
	alice.write("Good morning from the weir.")
	alice.open("/river")
	alice.until("the river has items", `document.querySelectorAll("#days .item").length >= 2`)
	river := alice.screenshot()
	alice.open("/write")
	alice.typeText("The heron is back. It does **not** mind the rain.")
	write := alice.screenshot()
	alice.open("/log")
	alice.until("the log has entries", `document.querySelector("main").textContent.includes("alice")`)
	log := alice.screenshot()
	if album == "" {
		return
	}
	for name, m := range map[string]image.Image{"reader": river, "writer": write, "operator": log} {
		flat := image.NewRGBA(m.Bounds())
		draw.Draw(flat, m.Bounds(), m, m.Bounds().Min, draw.Src)
		few := image.NewPaletted(m.Bounds(), colours(flat))
		draw.Draw(few, m.Bounds(), m, m.Bounds().Min, draw.Src)
		var out bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(string(album), name+".png"), out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
