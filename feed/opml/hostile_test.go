package opml_test

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"cloudburst/feed/opml"
	"cloudburst/internal/cputime"
	"cloudburst/internal/fulltest"
)

// hostile returns generators of documents of about n bytes. A careless parser needs long for these
// documents.
func hostile() map[string]func(n int) string {
	list := func(body string) string {
		return `<opml version="2.0"><head><title>x</title></head><body>` + body + "</body></opml>"
	}
	times := func(s string) func(int) string {
		return func(n int) string { return list(strings.Repeat(s, n/len(s))) }
	}
	return map[string]func(n int) string{
		"empty outlines":     times("<outline/>"),
		"deep outlines":      times("<outline>"),
		"deep subscriptions": times(`<outline text="x" xmlUrl="u:x">`),
		"deep elements":      times("<a>"),
		"deep and closed": func(n int) string {
			return list(strings.Repeat("<outline>", n/19) + strings.Repeat("</outline>", n/19))
		},
		"stray ends":            times("</a>"),
		"stray ends below":      func(n int) string { return list(strings.Repeat("<outline>", 90) + strings.Repeat("</a>", n/4)) },
		"many attributes":       func(n int) string { return list("<outline " + numbered(n/10) + "/>") },
		"many unknown":          times(`<outline text="x" a="" b="" c="" d=""/>`),
		"many in other letters": times(`<outline TEXT="x" XMLURL="" Title="" TYPE=""/>`),
		"many prefixes":         times(`<outline text="x" q:a="" xmlns:q="urn:q"/>`),
		"words between":         times("<outline/>word"),
		"words in one":          func(n int) string { return list("<outline>" + strings.Repeat("<outline/>word", n/14) + "</outline>") },
		"titles":                func(n int) string { return "<opml><head>" + strings.Repeat("<title>x", n/8) },
		"titles with more":      func(n int) string { return "<opml><head>" + strings.Repeat("<title a='b'>x</title>", n/22) },
		"ampersands":            func(n int) string { return list(`<outline text="` + strings.Repeat("&", n) + `"/>`) },
		"line ends":             func(n int) string { return list(`<outline text="` + strings.Repeat("\n", n) + `"/>`) },
		"unterminated quotes":   times(`<outline text="x`),
		"quotes of two kinds":   times(`<outline text="x' a='y">`),
		"unterminated CDATA":    times("<outline><![CDATA["),
		"unterminated comments": times("<!--"),
		"unknown trees":         times("<x><y>z</y></x>"),
		"bodies":                times("<body>"),
		"heads":                 times("<head><title>"),
		"roots":                 func(n int) string { return strings.Repeat("<opml>", n/6) },
		"roots after roots":     func(n int) string { return strings.Repeat("<opml></opml>", n/13) },
		"openers in junk":       func(n int) string { return "<x>" + strings.Repeat("<opmlx", n/6) },
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(" a")
		b.WriteString(strings.Repeat("b", i%7))
		b.WriteString(`=""`)
	}
	return b.String()
}

// TestParseTimeIsLinear compares the time for a document with the time for one of eight times the
// length. A quadratic algorithm takes 64 times as long. A linear one takes up to 16 times as long: more
// memory is new, and it does not fit into the caches, which other programs use too. The test uses the
// fastest of several runs.
func TestParseTimeIsLinear(t *testing.T) {
	fulltest.Long(t)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // switch off garbage collection, whose timing is random
	const size, factor, limit, rounds = 1 << 16, 8, 20, 50
	for name, make := range hostile() {
		short, long := []byte(make(size)), []byte(make(factor*size))
		a, b := took(t, short), took(t, long)
		for i := 0; i < rounds && (i < 2 || b >= limit*a); i++ {
			a, b = min(a, took(t, short)), min(b, took(t, long))
		}
		ratio := float64(b) / float64(a)
		t.Logf("%s: %.1f times as long (%v and %v)", name, ratio, a, b)
		if ratio >= limit {
			t.Errorf("%s: %d times the length takes %.1f times as long (%v and %v)", name, factor, ratio, a, b)
		}
	}
}

// took returns the time to parse a document.
func took(t *testing.T, doc []byte) time.Duration {
	t.Helper()
	runtime.GC()
	return max(1, cputime.Of(func() {
		if _, err := opml.ParseBytes(doc, nil); err != nil && !strings.HasPrefix(err.Error(), "opml: not an OPML document") {
			t.Fatal(err)
		}
	}))
}
