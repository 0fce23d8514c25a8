package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cloudburst/feed"

	"github.com/google/go-cmp/cmp"
)

// hostileTexts returns texts that could break the syntax of a format.
func hostileTexts() map[string]string {
	return map[string]string{
		"quotes":         `it's a "test" of ` + "`" + `quotes` + "`" + ` „all“ ‘of’ «them»`,
		"section":        `a ]]> b <![CDATA[ c`,
		"php":            `?><?php system('id'); ?> <?= 1 ?> */ ?` + "\n>",
		"nul":            "a\x00b\x00",
		"script":         `</script><script>alert(1)</script><!-- -->`,
		"interpolation":  `#{1+1} #@a #$b @{[1+1]} @a ${x} $x {$x} ${\ print 1} %s %d {0} $(id) \#{1}`,
		"backslash":      `ends with \`,
		"backslashes":    `\\ \n \x41 \u0041 \' \" \N{DASH} \Q \E \0 \\`,
		"code":           `'); system("id"); ('` + `"); system('id'); ("` + `"""` + `'''`,
		"lines":          "one\ntwo\r\nthree\rfour\tfive\n\n",
		"old line ends":  "a\u2028b\u2029c\u0085d",
		"emoji":          "😀👩‍👩‍👧 é e\u0301 日本語 \u200b\ufeff\U0010FFFF\uFFFF",
		"bad bytes":      "a\xffb\xc3\xe2\x80 c",
		"controls":       "\x01\x02\x1b[31m\x7f\x08\u009b",
		"number":         "007",
		"exponent":       "1e5",
		"true":           "true",
		"null":           "null",
		"big number":     "99999999999999999999",
		"formula":        `=HYPERLINK("http://e.example/","x")`,
		"minus":          "-1",
		"at":             "@SUM(1)",
		"space":          "  space  ",
		"heredoc":        "\n__END__\n=begin\n=cut\n__DATA__\n#!/bin/sh\nEOT\n",
		"halt":           "__halt_compiler();",
		"proto":          "__proto__",
		"tab first":      "\tx",
		"semicolon":      `s:3:"x";}`,
		"right to left":  "\u202eabc\u202c שלום",
		"one quote":      `"`,
		"question marks": "????>?>>?",
	}
}

// filled returns a feed in which every text is s.
func filled(s string) *feed.Feed {
	text := feed.Text{Value: s, Type: "text/plain"}
	date := feed.Date{UTC: time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)}
	who := []feed.Person{{Name: s, Email: s, URL: s, Role: s}}
	return &feed.Feed{
		Title: text, Link: s, Subtitle: text, Image: &feed.Image{URL: s, Title: s}, ID: s, Self: s, Language: s,
		Updated: date, Rights: text, Authors: who, Categories: []feed.Category{{Term: s, Scheme: s, Label: s}},
		Generator: &feed.Generator{Name: s, URL: s}, Hubs: []feed.Hub{{Type: s, URL: s}}, Licenses: []string{s},
		Clouds: []feed.Cloud{{Domain: s, Port: s, Path: s, RegisterProcedure: s, Protocol: s}},
		Hints:  feed.Hints{TTL: s, SkipHours: []string{s}}, Unknown: []feed.Node{{Name: "_" + s, Text: s}},
		Items: []feed.Item{{
			ID: s, Title: text, Link: s, Summary: text, Content: []feed.Text{{Value: s, Type: "text/html"}, {Value: s + s, Type: s}},
			Published: date, Authors: who, Categories: []feed.Category{{Term: s}, {Term: s + s}},
			Enclosures: []feed.Enclosure{{URL: s, Type: s, Length: 1 << 33, Title: s, Duration: 1.5}},
			Source:     &feed.Source{Title: text, URL: s}, ITunes: &feed.ITunes{Author: s, Keywords: []string{s}, Seconds: 70000},
			Media:   &feed.Media{Contents: []feed.MediaContent{{URL: s}}, MediaInfo: feed.MediaInfo{Thumbnails: []feed.MediaThumbnail{{URL: s}}}},
			Unknown: []feed.Node{{Space: s, Prefix: s, Name: s, Attrs: []feed.Attr{{Name: s, Value: s}}, Children: []feed.Node{{Text: s}}}},
			Items:   []feed.Item{{ID: s + s, Title: text}},
		}},
	}
}

// nestedItems returns a feed with items nested to a depth.
func nestedItems(depth int) *feed.Feed {
	it := feed.Item{ID: "http://example.org/innermost"}
	node := feed.Node{Name: "innermost"}
	for i := range depth {
		it = feed.Item{ID: fmt.Sprint("http://example.org/", i), Items: []feed.Item{it}}
		node = feed.Node{Name: "_x", Children: []feed.Node{node}}
	}
	return &feed.Feed{Items: []feed.Item{it}, Unknown: []feed.Node{node}}
}

// dataCases returns the feeds that the interpreters of all languages must read back.
func dataCases() map[string]*feed.Feed {
	zero, late := 0, time.Date(9999, 12, 31, 23, 59, 59, 999_000_000, time.UTC)
	long := strings.Repeat("long é' ", 20_000)
	cases := map[string]*feed.Feed{
		"empty":   {},
		"nothing": {Items: []feed.Item{{}}},
		"long":    {Title: feed.Text{Value: long}, Items: []feed.Item{{ID: long, Link: long}}},
		"255":     filled(strings.Repeat("x", 255)),
		"256":     filled(strings.Repeat("x", 256)),
		"256é":    filled(strings.Repeat("é", 128)),
		"deep":    nestedItems(100),
		"numbers": {Updated: feed.Date{UTC: late}, Published: feed.Date{UTC: time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC)}, Items: []feed.Item{
			{ID: "a", Enclosures: []feed.Enclosure{{URL: "u", Length: 127, Duration: 1}, {URL: "u", Length: 128, Duration: 1e300}, {URL: "u", Length: math.MaxInt32},
				{URL: "u", Length: math.MaxInt32 + 1, Duration: 1e-7}, {URL: "u", Length: 1 << 53, Duration: math.Inf(1)}, {URL: "u", Length: -1, Duration: math.NaN()}}},
			{ID: "b", More: &feed.More{CommentCount: &zero, Draft: true, Where: []feed.Geometry{{Type: "Point", Coordinates: [][]float64{{-0.25, 1e21, math.NaN(), 3}}}}}},
			{ID: "c", PermaLink: true, Published: feed.Date{UTC: time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC)}},
			{ID: "d", Published: feed.Date{UTC: time.Date(1901, 12, 13, 0, 0, 0, 0, time.UTC)}, Updated: feed.Date{Raw: "some day"}},
		}},
	}
	for name, s := range hostileTexts() {
		cases[name] = filled(s)
	}
	return cases
}

// plainData converts a tree to the types of encoding/json. in converts values that a language
// represents differently. If in is nil, values stay unchanged.
func plainData(data []datum, in func(*datum) any) any {
	v, _ := plainDatum(data, 0, in)
	return v
}

func plainDatum(data []datum, i int, in func(*datum) any) (v any, next int) {
	d := &data[i]
	next = i + 1
	if in != nil {
		if v = in(d); v != nil {
			return v, next
		}
	}
	switch d.kind {
	case kindText:
		return d.text, next
	case kindInt:
		return float64(d.n), next
	case kindFloat:
		return d.real, next
	case kindTrue:
		return true, next
	case kindList:
		list := []any{}
		for range d.n {
			v, next = plainDatum(data, next, in)
			list = append(list, v)
		}
		return list, next
	}
	m := map[string]any{}
	for range d.n {
		key := data[next].key
		if _, twice := m[key]; twice {
			panic("duplicate key " + key + " in a map")
		}
		m[key], next = plainDatum(data, next, in)
	}
	return m, next
}

func rendered(t testing.TB, f *feed.Feed, format string, o *Options) string {
	t.Helper()
	b, _, err := Append(nil, f, format, o)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// difference returns the first difference of two trees. It is used because go-cmp takes exponential
// time for nested lists.
func difference(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	a, err := json.Marshal(want)
	b, err2 := json.Marshal(got)
	if err != nil || err2 != nil {
		return fmt.Sprint(err, err2)
	}
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	from := max(0, n-100)
	return fmt.Sprintf("want … %.300q, got … %.300q", a[from:], b[from:])
}

// phpReader parses PHP's serialize format.
type phpReader struct{ s string }

func (p *phpReader) until(c string) string {
	v, rest, ok := strings.Cut(p.s, c)
	if !ok {
		panic("php: no " + c + " in " + short(p.s))
	}
	p.s = rest
	return v
}

func (p *phpReader) value() any {
	switch kind := p.until(":"); kind {
	case "s":
		n, err := strconv.Atoi(p.until(":"))
		if err != nil || len(p.s) < n+3 || p.s[0] != '"' || p.s[n+1:n+3] != `";` {
			panic("php: bad text at " + short(p.s))
		}
		v := p.s[1 : n+1]
		p.s = p.s[n+3:]
		return v
	case "i", "d":
		v, err := strconv.ParseFloat(p.until(";"), 64)
		if err != nil {
			panic(err)
		}
		return v
	case "b":
		return p.until(";") == "1"
	case "a":
		n, err := strconv.Atoi(p.until(":{"))
		if err != nil {
			panic(err)
		}
		m, list := map[string]any{}, []any{}
		for range n {
			key := p.value()
			v := p.value()
			if k, ok := key.(string); ok {
				m[k] = v
			} else if key == float64(len(list)) {
				list = append(list, v)
			}
		}
		p.until("}")
		if len(m) > 0 {
			return m
		}
		return list
	default:
		panic("php: kind " + kind)
	}
}

func TestDataFormatsOfAllLanguagesContainTheSameData(t *testing.T) {
	t.Parallel()
	for name, f := range dataCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkData(t, f)
		})
	}
}

// checkData parses the output in formats that Go can parse, and makes simple checks of the other
// formats.
func checkData(t *testing.T, f *feed.Feed) {
	t.Helper()
	w := writer{f: f}
	w.at = w.few[:0]
	want := plainData(w.data(), nil)

	php := &phpReader{rendered(t, f, "phps", nil)}
	if diff := difference(want, php.value()); diff != "" || php.s != "" {
		t.Errorf("phps (%q is left over): %s", short(php.s), diff)
	}
	for format, around := range map[string][2]string{"js": {"export default ", ";\n"}, "jsonp": {"/**/feedCallback(", ");\n"}} {
		doc := rendered(t, f, format, nil)
		inner, ok := strings.CutPrefix(doc, around[0])
		inner, end := strings.CutSuffix(inner, around[1])
		var got any
		if err := json.Unmarshal([]byte(inner), &got); err != nil || !ok || !end {
			t.Fatalf("%s does not contain valid JSON: %v", format, err)
		}
		if diff := difference(want, got); diff != "" {
			t.Errorf("%s: %s", format, diff)
		}
		if i := strings.IndexAny(doc, "<>&\u2028\u2029\x00\x7f"); i >= 0 {
			t.Errorf("%s has %q as it is", format, doc[i])
		}
	}
	for _, format := range []string{"python", "perl", "ruby"} {
		doc := rendered(t, f, format, nil)
		for i := range len(doc) {
			if c := doc[i]; c != '\n' && (c < ' ' || c > '~') {
				t.Fatalf("%s has %q, which is not printable ASCII, in %s", format, c, short(doc[max(0, i-20):]))
			}
		}
	}
	if doc := rendered(t, f, "php", nil); strings.Contains(doc, "?>") || !utf8.ValidString(doc) {
		t.Error("php: something ends the program")
	}
}

// The data of every language is made from this tree; interpreters_test.go checks the formats that
// Go cannot parse.
func FuzzData(f *testing.F) {
	for _, s := range hostileTexts() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 10_000 {
			return
		}
		checkData(t, filled(s))
		for _, format := range []string{"csv", "tsv", "html", "text", "jsonfeed"} {
			if doc := rendered(t, filled(s), format, nil); !utf8.ValidString(doc) {
				t.Errorf("%s is not UTF-8", format)
			}
		}
	})
}

func TestDataFormatHasAllRequiredFieldsEvenForEmptyFeed(t *testing.T) {
	t.Parallel()
	f := &feed.Feed{Items: []feed.Item{{}}}
	w := writer{f: f}
	w.at = w.few[:0]
	got := plainData(w.data(), nil)
	want := map[string]any{"title": "", "link": "", "description": "", "date": "", "image": "", "items": []any{
		map[string]any{"title": "", "link": "", "body": "", "body_type": "", "date": "", "author": "", "author_url": "",
			"guid": "urn:uuid:" + got.(map[string]any)["items"].([]any)[0].(map[string]any)["guid"].(string)[9:]},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRenderedGUIDIsGloballyUnique(t *testing.T) {
	t.Parallel()
	guid := func(feedID, id string) string {
		w := writer{f: &feed.Feed{ID: feedID}}
		return w.guid(&feed.Item{ID: id})
	}
	for _, id := range []string{"http://example.org/1", "urn:isbn:1", "tag:example.org,2026:1", "news+x://h"} {
		if got := guid("a", id); got != id {
			t.Errorf("%s became %s", id, got)
		}
	}
	for _, id := range []string{"", "1", "12:30", "note: x", "http://e.example/a b", "://x", "urn:", "http://", "é://x"} {
		got := guid("http://a.example/", id)
		if len(got) != len("urn:uuid:00000000-0000-0000-0000-000000000000") || !strings.HasPrefix(got, "urn:uuid:") || got[23] != '5' {
			t.Errorf("%q became %s, which is not a UUID of version 5", id, got)
		}
		if got != guid("http://a.example/", id) || got == guid("http://b.example/", id) {
			t.Errorf("%q: the GUID of a feed's item is %s, not one of its own", id, got)
		}
	}
	// Python's uuid5(NAMESPACE_URL, "http://www.example.com/#1") returns this UUID.
	if got, want := guid("http://www.example.com/", "1"), "urn:uuid:eb143735-6060-5168-a1b0-984004a22cfe"; got != want {
		t.Errorf("the GUID is %s, not %s as other programs make it", got, want)
	}
}

func TestJSONPCallbackMustBeAFunctionName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"x", "feeds.show", "$._1"} {
		if doc := rendered(t, &feed.Feed{}, "jsonp", &Options{Callback: name}); !strings.HasPrefix(doc, "/**/"+name+"({") {
			t.Errorf("%s: %s", name, doc)
		}
	}
	for _, name := range []string{"alert(1)//", "a b", "1a", "a.", ".a", "a..b", "a[0]", "new", "a.delete", "é", "a\n", "</script>", "a;b", strings.Repeat("a", 300)} {
		_, _, err := Append(nil, &feed.Feed{}, "jsonp", &Options{Callback: name})
		if bad := (*CallbackError)(nil); !errors.As(err, &bad) {
			t.Errorf("%q is accepted as a function name: %v", name, err)
		}
	}
}

func TestDeepNestingIsOmittedWithAWarning(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"phps", "storable", "php", "perl", "python", "ruby", "js", "jsonp", "csv"} {
		doc, warnings, err := Append(nil, nestedItems(1000), format, nil)
		if err != nil || len(warnings) == 0 || warnings[0].Rule != "depth" {
			t.Errorf("%s: %d bytes, warnings %v, %v", format, len(doc), warnings, err)
		}
	}
}

func TestJSONStringsMatchTheStandardLibrary(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		for at := range 20 {
			s := strings.Repeat("é", 5) + "0123456789" // at is every alignment of the text
			s = strings.ToValidUTF8(s[:at]+string(rune(c))+s[at:], "")
			var got string
			if err := json.Unmarshal(quoteJSON(nil, s), &got); err != nil || got != s {
				t.Fatalf("%q becomes %s: %v", s, quoteJSON(nil, s), err)
			}
		}
	}
}
