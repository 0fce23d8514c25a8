package opml_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/feed/opml"
)

func parse(t testing.TB, text string, o *opml.Options) *opml.Document {
	t.Helper()
	d, err := opml.Parse(strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func kinds(d *opml.Document) []string {
	var k []string
	for _, p := range d.Problems {
		k = append(k, p.Kind)
	}
	return k
}

func TestNotOPMLErrorReportsTheDetectedFormat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ doc, looks, detail string }{
		{"", "empty", ""},
		{" \n\t", "empty", ""},
		{"<!DOCTYPE html><html><head><title>x</title></head></html>", "html", ""},
		{"<body><p>hello</p></body>", "html", ""},
		{"<head><title>x</title></head>", "html", ""},
		{`<rss version="2.0"><channel/></rss>`, "feed", "rss"},
		{`<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"/>`, "feed", "feed"},
		{`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>`, "feed", "rdf:RDF"},
		{`<svg xmlns="http://www.w3.org/2000/svg"/>`, "xml", "svg"},
		{`<note>the word opml, and &lt;opml></note>`, "xml", "note"},
		{`{"version": "https://jsonfeed.org/version/1.1"}`, "json", ""},
		{"Dear reader,\nno markup here.", "text", ""},
		{"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "image", ""},
		{"%PDF-1.7\n", "pdf", ""},
		{"PK\x03\x04\x14\x00", "zip", ""},
		{"\x1f\x8b\x08\x00\x00\x00", "gzip", ""},
		{"\x00\x01\x02\x03\xff\xfe\xfd", "binary", ""},
	} {
		d, err := opml.Parse(strings.NewReader(c.doc), nil)
		no, ok := errors.AsType[*opml.NotOPMLError](err)
		if !ok || d != nil {
			t.Errorf("%.40q yields %v and %v", c.doc, d, err)
			continue
		}
		if no.Looks != c.looks || no.Detail != c.detail {
			t.Errorf("%.40q looks like %q %q, want %q %q", c.doc, no.Looks, no.Detail, c.looks, c.detail)
		}
		if msg := err.Error(); !strings.HasPrefix(msg, "opml: not an OPML document: it ") {
			t.Errorf("%.40q: %s", c.doc, msg)
		}
	}
}

func TestReaderErrorIsReturned(t *testing.T) {
	t.Parallel()
	broken := errors.New("the line is cut")
	r := io.MultiReader(strings.NewReader("<opml>"), iotest.ErrReader(broken))
	if _, err := opml.Parse(r, nil); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestCharsetOfContentTypeIsUsed(t *testing.T) {
	t.Parallel()
	d := parse(t, "<opml version=\"2.0\"><head><title>\xd0\xd2\xc9\xd7\xc5\xd4</title></head><body/></opml>",
		&opml.Options{ContentType: "text/xml; charset=koi8-r"})
	if d.Head.Title != "привет" || d.Encoding != "koi8-r" {
		t.Errorf("%q in %s", d.Head.Title, d.Encoding)
	}
}

const folders = `<opml version="2.0"><head/><body>
<outline text="A"><outline text="A1" type="rss" xmlUrl="u:1"/>
 <outline text="B"><outline text="B1" type="rss" xmlUrl="u:2"><outline text="below" type="rss" xmlUrl="u:3"/></outline></outline></outline>
<outline text="off" isComment="true"><outline text="no" type="rss" xmlUrl="u:4"/></outline>
<outline text="more" type="include" url="u:list"/>
<outline text="last" type="rss" xmlUrl="u:5"/></body></opml>`

func TestFeedsAreListedInOrderWithFoldersWithoutComments(t *testing.T) {
	t.Parallel()
	d := parse(t, folders, nil)
	var got []string
	var paths [][]string
	for path, o := range d.Feeds() {
		got = append(got, strings.Join(path, "/")+" "+o.FeedURL())
		paths = append(paths, append(path, "appended"))
	}
	want := []string{"A u:1", "A/B u:2", "A/B/B1 u:3", " u:5"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"A", "B", "appended"}, paths[1]); diff != "" {
		t.Errorf("a stored path has changed: %s", diff)
	}
	all := 0
	for range d.All() {
		all++
	}
	if all != 9 {
		t.Errorf("%d outlines in all, want 9", all)
	}
	for _, o := range d.Includes() {
		if o.IncludeURL() != "u:list" {
			t.Errorf("includes %q", o.IncludeURL())
		}
	}
}

func TestIterationOverFeedsCanStopEarly(t *testing.T) {
	t.Parallel()
	n := 0
	for range parse(t, folders, nil).Feeds() {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d feeds before the stop", n)
	}
}

func TestOutlinesReturnedByFeedsCanBeModified(t *testing.T) {
	t.Parallel()
	d := parse(t, folders, nil)
	for _, o := range d.Feeds() {
		o.XMLURL = "https" + o.XMLURL
	}
	if got := d.Outlines[0].Outlines[0].XMLURL; got != "httpsu:1" {
		t.Errorf("the document has %q", got)
	}
}

func TestAddCreatesFoldersAndRequiredAttributes(t *testing.T) {
	t.Parallel()
	var d opml.Document
	d.Add(opml.Outline{Text: "One", XMLURL: "http://example.org/1"}, "News", "World")
	d.Add(opml.Outline{Title: "Two", XMLURL: "http://example.org/2"}, "News", "World")
	d.Add(opml.Outline{XMLURL: "http://example.org/3"})
	d.Add(opml.Outline{Text: "Note"}, "News")
	want := []opml.Outline{
		{Text: "News", Outlines: []opml.Outline{
			{Text: "World", Outlines: []opml.Outline{
				{Text: "One", Type: "rss", XMLURL: "http://example.org/1"},
				{Text: "Two", Title: "Two", Type: "rss", XMLURL: "http://example.org/2"},
			}},
			{Text: "Note"},
		}},
		{Text: "http://example.org/3", Type: "rss", XMLURL: "http://example.org/3"},
	}
	if diff := cmp.Diff(want, d.Outlines, sameOutline()); diff != "" {
		t.Error(diff)
	}
	again, err := opml.ParseBytes(printed(t, &d), nil)
	if err != nil || len(again.Problems) > 0 || again.Version != "2.0" {
		t.Errorf("a list of one's own is not in order: %v %v", again.Problems, err)
	}
	if diff := cmp.Diff(&d, again, sameOutline()); diff != "" {
		t.Error(diff)
	}
}

func TestFieldsSetAfterParsingAreWritten(t *testing.T) {
	t.Parallel()
	d := parse(t, `<opml version="1.0"><head/><body><outline z="1" text="One" y="2"/></body></opml>`, nil)
	o := &d.Outlines[0]
	o.Text, o.XMLURL, o.Description = "First", "http://example.org/1", "new"
	o.Attrs = append(o.Attrs[1:], opml.Attr{Name: "x:a", Value: "3", Space: "urn:x"})
	want := `<outline y="2" text="First" xmlns:x="urn:x" x:a="3" type="rss" xmlUrl="http://example.org/1" description="new"/>`
	if out := string(printed(t, d)); !strings.Contains(out, want) || !strings.Contains(out, `<opml version="1.0">`) {
		t.Errorf("want %s in\n%s", want, out)
	}
}

func TestWrittenOPMLIsAlwaysWellFormed(t *testing.T) {
	t.Parallel()
	d := &opml.Document{
		Namespaces: []opml.Namespace{{Prefix: "a", URI: "urn:1"}, {Prefix: "a", URI: "urn:2"}, {Prefix: "xml", URI: "urn:3"}, {}},
		Outlines: []opml.Outline{{
			Text: "\x00\xff]]> & < > \" \t\n\r",
			Attrs: []opml.Attr{
				{Name: "text", Value: "twice"}, {Name: "xmlns", Value: "urn:no"}, {Name: "xmlns:q", Value: "urn:no"},
				{Name: "k", Space: "urn:4"}, {Name: "a:k", Space: "urn:5"}, {Name: "a:l", Space: "urn:6"}, {Name: "b:k", Space: "urn:5"},
				{Name: "c:free"},
			},
			Unknown: []opml.Node{{Text: "]]> & <"}, {Name: "e", Space: "urn:7", Children: []opml.Node{{Name: "f"}, {Text: "t"}}}},
		}},
	}
	out := printed(t, d)
	again, err := opml.ParseBytes(out, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := again.Outlines[0]
	if want := "\uFFFD\uFFFD]]> & < > \" \t\n\r"; o.Text != want {
		t.Errorf("text %q, want %q", o.Text, want)
	}
	want := []opml.Attr{
		{Space: "urn:4", Name: "ns1:k"}, {Space: "urn:5", Name: "a:k"}, {Space: "urn:6", Name: "ns2:l"}, {Name: "c:free"},
	}
	if diff := cmp.Diff(want, o.Attrs); diff != "" {
		t.Errorf("%s\n%s", diff, out)
	}
	if o.Unknown[0].Space != "urn:7" || o.Unknown[0].Children[0].Space != "" {
		t.Errorf("namespaces of elements: %+v", o.Unknown)
	}
}

func TestInvalidAttributeNameIsRejectedWithoutOutput(t *testing.T) {
	t.Parallel()
	for _, d := range []*opml.Document{
		{Attrs: []opml.Attr{{Name: "a b"}}},
		{Head: opml.Head{Unknown: []opml.Node{{Name: "1"}}}},
		{Unknown: []opml.Node{{Name: "a", Prefix: "x y"}}},
	} {
		var b bytes.Buffer
		if n, err := d.WriteTo(&b); err == nil || n != 0 || b.Len() != 0 || !strings.HasPrefix(err.Error(), "opml: ") {
			t.Errorf("%+v: %d bytes, %v", d, n, err)
		}
	}
}

func TestCategoryAttributeIsSplitIntoCategories(t *testing.T) {
	t.Parallel()
	c := opml.Category(" /Arts/Music , Tourism,,/,a / b ")
	if diff := cmp.Diff([]string{"/Arts/Music", "Tourism", "/", "a / b"}, c.List()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]string{{"Arts", "Music"}, {"Tourism"}, {"a", "b"}}, c.Paths()); diff != "" {
		t.Error(diff)
	}
	if got := opml.Categories("/a/b", "one, two", " "); got != "/a/b,one two" {
		t.Errorf("%q", got)
	}
}

func TestDatesAreParsedInEveryKnownFormat(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"Fri, 20 Nov 2026 08:00:00 GMT":   "2026-11-20T08:00:00Z",
		"Fri, 20 Nov 2026 08:00:00 +0130": "2026-11-20T06:30:00Z",
		"20 Nov 26 08:00 EST":             "2026-11-20T13:00:00Z",
		"Mon, 3 Jan 2005 08:00:00 PDT":    "2005-01-03T15:00:00Z",
		"2026-11-20T08:00:00.5+02:00":     "2026-11-20T06:00:00.5Z",
		"2026-11-20 08:00:00 -08:00":      "2026-11-20T16:00:00Z",
		"2026-11-20T08:00Z":               "2026-11-20T08:00:00Z",
		"2026-11-20":                      "2026-11-20T00:00:00Z",
		"Fri Nov 20 08:00:00 2026":        "2026-11-20T08:00:00Z",
		"20 November 2026":                "2026-11-20T00:00:00Z",
		"  Fri,  20 Nov 2026 08:00:00 Z ": "2026-11-20T08:00:00Z",
		"Fri, 20 Nov 2026 08:00:00 XYZ":   "2026-11-20T08:00:00Z",
		"20. November 2026 09:00 MEZ":     "2026-11-20T08:00:00Z",
		"03/04/2026":                      "",
		"tomorrow morning":                "",
		"Fri, 32 Nov 2026 08:00:00 GMT":   "",
		"":                                "",
	} {
		got := ""
		if at, ok := opml.Date(raw).Time(); ok {
			got = at.Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", raw, got, want)
		}
	}
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.FixedZone("", 3600))
	if got := opml.DateOf(at); got != "Fri, 20 Nov 2026 08:00:00 GMT" {
		t.Errorf("DateOf returns %q", got)
	}
}

func TestExpandedReturnsOutlinesOfExpansionState(t *testing.T) {
	t.Parallel()
	h := opml.Head{ExpansionState: " 1, 3,x,17,"}
	if got := h.Expanded(); !slices.Equal(got, []int{1, 3, 17}) {
		t.Errorf("%v", got)
	}
}

func TestAttrReturnsKnownAndUnknownAttributes(t *testing.T) {
	t.Parallel()
	o := opml.Outline{Text: "t", IsComment: true, Attrs: []opml.Attr{{Name: "x:y", Value: "z"}}}
	for name, want := range map[string]string{"text": "t", "isComment": "true", "x:y": "z"} {
		if got, ok := o.Attr(name); !ok || got != want {
			t.Errorf("%s is %q, %v", name, got, ok)
		}
	}
	for _, name := range []string{"title", "TEXT", "y"} {
		if got, ok := o.Attr(name); ok {
			t.Errorf("%s is %q", name, got)
		}
	}
}

func TestDocumentIsTruncatedAtEachLimitAndReported(t *testing.T) {
	t.Parallel()
	deep := "<opml version=\"2.0\"><head/><body>" + strings.Repeat(`<outline text="x">`, 150) + strings.Repeat("</outline>", 150) + "</body></opml>"
	wide := `<opml version="2.0"><head/><body>` + strings.Repeat(`<outline text="x" a="1" b="2"/>`, 50) + "</body></opml>"
	var many strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, ` a%d="%d"`, i, i)
	}
	for name, c := range map[string]struct {
		doc    string
		limits opml.Limits
		holds  func(*opml.Document) bool
	}{
		"bytes":    {wide, opml.Limits{Bytes: 500}, func(d *opml.Document) bool { return len(d.Outlines) > 5 && len(d.Outlines) < 50 }},
		"depth":    {deep, opml.Limits{}, func(d *opml.Document) bool { return depth(d.Outlines) == 98 }},
		"outlines": {wide, opml.Limits{Outlines: 7}, func(d *opml.Document) bool { return len(d.Outlines) == 7 }},
		"unknown":  {wide, opml.Limits{Unknown: 5}, func(d *opml.Document) bool { return len(d.Outlines) == 50 && len(d.Outlines[4].Attrs) == 0 }},
		"attributes": {`<opml version="2.0"><head/><body><outline text="x"` + many.String() + "/></body></opml>", opml.Limits{},
			func(d *opml.Document) bool { return len(d.Outlines[0].Attrs) == 255 }},
	} {
		d := parse(t, c.doc, &opml.Options{Limits: c.limits})
		if !c.holds(d) || !slices.Contains(kinds(d), opml.ProblemLimit) {
			t.Errorf("%s: %d outlines, %v", name, len(d.Outlines), d.Problems)
		}
	}
	d := parse(t, wide[:len(wide)-20]+strings.Repeat("&", 500)+"</body></opml>", &opml.Options{Limits: opml.Limits{Problems: 3}})
	if len(d.Problems) != 4 || d.Problems[3].Kind != opml.ProblemMore {
		t.Errorf("problems beyond the limit: %v", d.Problems)
	}
}

func depth(list []opml.Outline) int {
	deepest := 0
	for i := range list {
		deepest = max(deepest, 1+depth(list[i].Outlines))
	}
	return deepest
}

func TestTenThousandUnclosedSubscriptionsAreFound(t *testing.T) {
	t.Parallel()
	doc := `<opml version="1.0"><head><title>x</title></head><body><outline text="F">` +
		strings.Repeat("<outline text=\"x\" type=\"rss\" xmlUrl=\"http://example.org/a>b\">\n", 10_000) + "</outline></body></opml>"
	d := parse(t, doc, nil)
	n := 0
	for path, o := range d.Feeds() {
		if len(path) != 1 || o.XMLURL != "http://example.org/a>b" {
			t.Fatalf("%v %q", path, o.XMLURL)
		}
		n++
	}
	if n != 10_000 {
		t.Errorf("%d feeds", n)
	}
}
