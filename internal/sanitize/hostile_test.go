package sanitize

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/cputime"
	"cloudburst/internal/fulltest"
)

// shapes returns texts of about n bytes that make naive parsers slow or recurse deeply.
func shapes(n int) map[string]string {
	fill := func(unit string) string { return strings.Repeat(unit, n/len(unit)+1) }
	var distinct strings.Builder
	for i := 0; distinct.Len() < n/2; i++ {
		fmt.Fprintf(&distinct, "<font color=c%d><p>", i)
	}
	return map[string]string{
		"deep":               fill("<div>"),
		"deep formatting":    fill("<b>"),
		"deep lists":         fill("<ul><li>"),
		"deep tables":        fill("<table><tr><td>"),
		"tables in tables":   fill("<table>"),
		"links in links":     fill("<a href=x>a"),
		"distinct fonts":     distinct.String() + strings.Repeat("<p>x", n/8),
		"long fonts":         "<p>" + strings.Repeat("<font color="+strings.Repeat("c", 1000)+">", 8) + fill("<p>x"),
		"formatting forever": fill("<b><i><u><s><p>x"),
		"crossed":            fill("<b><i></b></i>x"),
		"blocks in inlines":  fill("<b><div>x</b></div>"),
		"ends only":          fill("x</b></p></div></td>"),
		"ends of deep":       strings.Repeat("<div>", 500) + fill("x</span>"),
		"stray cells":        fill("x<td>"),
		"text in tables":     fill("<table>x<tr>y"),
		"fonts in tables":    fill("<table><font><tr><td>x</table>"),
		"one tag":            "<p " + fill("a ") + ">",
		"attributes":         "<p " + fill(`title="x" `) + ">",
		"one value":          `<p title="` + fill("&lt;") + `">`,
		"one style":          `<p style="` + fill("color:red;") + `">`,
		"parentheses":        `<p style="` + fill("url( (") + `">`,
		"one srcset":         `<img srcset="` + fill("a 1x, ") + `">`,
		"commas":             `<img srcset="` + fill(",") + `">`,
		"quotes":             fill(`<p title="`),
		"lesser":             fill("<"),
		"ampersands":         fill("&"),
		"references":         fill("&#x26;"),
		"long reference":     "&" + fill("a") + ";",
		"zeroes":             "&#" + fill("0") + "38;",
		"comments":           fill("<!--"),
		"dashes":             "<!" + fill("-"),
		"declarations":       fill("<!x"),
		"sections":           fill("<![CDATA["),
		"scripts":            fill("<script>"),
		"script ends":        "<script>" + fill("</scrip"),
		"applets":            fill("<applet>x"),
		"textareas":          fill("<textarea>"),
		"titles":             fill("<title></title"),
		"svg":                fill("<svg>"),
		"deep svg":           "<svg>" + fill("<g>"),
		"svg and back":       fill("<svg><p>"),
		"math":               fill("<math><mi>x"),
		"hidden":             "<svg>" + fill("<desc>"),
		"pre":                fill("<pre>\n\n"),
		"ruby":               fill("<ruby><rt>"),
		"headings":           fill("<h1><a><h2>"),
		"nul":                fill("\x00a"),
		"not UTF-8":          fill("\xffa"),
		"addresses":          fill("<a href='j\t\n:'>"),
	}
}

func TestOutputSizeIsBoundedForHostileInput(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t)
	for name, s := range shapes(1 << 15) {
		got := HTML(s)
		if limit := 12*len(s) + 8192; len(got) > limit {
			t.Errorf("%s: %d bytes became %d", name, len(s), len(got))
		}
		if HTML(got) != got {
			t.Errorf("%s: sanitizing twice changes the text", name)
		}
		depth, deepest := 0, 0
		for i := range len(got) - 1 {
			switch {
			case got[i] == '<' && got[i+1] == '/':
				depth--
			case got[i] == '<':
				depth++
			case got[i] == '/' && got[i+1] == '>':
				depth--
			}
			deepest = max(deepest, depth)
		}
		if deepest > maxDepth+1 || depth != 0 {
			t.Errorf("%s: %d elements deep, %d left open", name, deepest, depth)
		}
	}
}

// A text of eight times the length takes eight times as long in linear time, and 64 times as long
// in quadratic time. The limit allows a factor of 2.9 per doubling. Only texts that are slow in
// every run fail, because other processes evict the caches.
func TestSanitizingHostileInputTakesLinearTime(t *testing.T) {
	fulltest.SkipUnderRace(t)
	fulltest.Long(t)
	const n = 1 << 13
	took := func(s string) time.Duration {
		best := time.Hour
		for range 3 {
			best = min(best, cputime.Of(func() {
				HTML(s)
				Text(s)
			}))
		}
		return best
	}
	small, large := shapes(n), shapes(8*n)
	for name := range small {
		ratio := 0.0
		for range 5 {
			if ratio = float64(took(large[name])) / float64(took(small[name])+20*time.Microsecond); ratio < 24 {
				break
			}
		}
		if ratio >= 24 {
			t.Errorf("%s: eight times the text takes %.1f times as long", name, ratio)
		}
	}
}

func TestInputBeyondTheLimitIsTruncated(t *testing.T) {
	t.Parallel()
	z := New(Options{})
	z.longest = 1 << 12
	for name, s := range shapes(1 << 14) {
		got := z.HTML(s)
		if len(got) > z.longest {
			t.Errorf("%s: %d bytes remain", name, len(got))
		}
		if again := z.HTML(got); again != got {
			t.Errorf("%s: sanitizing twice cuts the text again", name)
		}
	}
	if got, want := z.HTML("<b>x</b>"+strings.Repeat("é", 1<<12)), "<b>x</b>"+strings.Repeat("é", 1<<11-4); got != want {
		t.Errorf("%d bytes remain, ending in %q", len(got), got[len(got)-3:])
	}
	if got := z.HTML(strings.Repeat("words ", 1<<12)); len(got) != z.longest {
		t.Errorf("of plain text %d bytes remain", len(got))
	}
}

func TestSanitizerIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	const s = `<p><b>a<a href=x onclick=y>b<table><td>c`
	want := HTML(s)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if got := HTML(s); got != want {
					t.Errorf("%q, want %q", got, want)
					return
				}
			}
		})
	}
	wg.Wait()
}
