package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// A newsletter often has the colours of a white page.
func TestTextsOfItemsAreReadableInDarkMode(t *testing.T) {
	t.Parallel()
	p, server := start(t, conf(t)), newFeedServer(t)
	const text = `<table bgcolor="#ffffff"><tr><td>Cell</td></tr></table><p><font color="#000000">Black</font> <font color="white">White</font></p>` +
		`<p>A ratio <math><mfrac><mi>a</mi><mi>b</mi></mfrac></math> and <math><mi>x</mi><mo>=</mo><mn>2</mn></math> in a sentence.</p><math display="block"><mi>y</mi></math>` +
		`<p><video src="https://a.example/v.mp4"></video><audio src="https://a.example/a.mp3"></audio><button>Go</button></p>`
	id := p.follow("", server.feed("/letter.xml", "Letter", "", post{Title: "Colours", Text: text}).url()).ID
	b := newTab(t, p.base)
	for _, scheme := range []string{"dark", "light"} {
		command(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		b.open(fmt.Sprint("/river?source=", id))
		b.until("the item is shown", `document.querySelector(".item .e-content font")`)
		b.holds("its texts have the colour of the page in "+scheme+" mode", `[...document.querySelectorAll(".item .e-content :is(font, td)")].every((e) => getComputedStyle(e).color === getComputedStyle(document.body).color)`)
		b.holds("its table has no background", `getComputedStyle(document.querySelector(".item .e-content table")).backgroundColor === "rgba(0, 0, 0, 0)"`)
	}
	b.holds("formulas are parts of their line", `(([ratio, equals, block]) => {
		const line = ratio.parentElement.getBoundingClientRect().height;
		return line < 100 && ratio.getBoundingClientRect().width < 60 && equals.getBoundingClientRect().height < 40 && block.getBoundingClientRect().width > 300;
	})([...document.querySelectorAll(".item .e-content math")])`)
	b.holds("media links have a space between them", `document.querySelector(".item .e-content").textContent.includes("v.mp4 Sound: a.mp3 Go")`)
}

func TestCurrentTabIsInSightOnAPhone(t *testing.T) {
	t.Parallel()
	p := start(t, conf(t))
	b := p.author(t, "ann")
	b.size(390, 844)
	for _, path := range []string{"/feeds/filters", "/river/display", "/account/readers", "/account/import", "/status", "/river"} {
		b.open(path)
		b.holds("the current tab of "+path+" is in the window", `(({ left, right }) => left >= 0 && right <= innerWidth)(document.querySelector(".section [aria-current]").getBoundingClientRect())`)
	}
}
