package formatcli

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"cloudburst/feed"
	"cloudburst/internal/sanitize"
)

// harmful parses markup as a browser does and returns an unsafe element or attribute; "": the
// markup is safe.
func harmful(markup string) (found string) {
	root, err := html.Parse(strings.NewReader("<!DOCTYPE html><body>" + markup))
	if err != nil {
		return err.Error()
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script", "style", "iframe", "object", "embed", "form", "input", "base", "meta", "link", "frame", "applet", "template", "noscript":
			found = "<" + n.Data + ">"
		}
		for _, a := range n.Attr {
			value := strings.ToLower(strings.Join(strings.FieldsFunc(a.Val, func(c rune) bool { return c <= ' ' }), ""))
			if strings.HasPrefix(a.Key, "on") || strings.HasPrefix(value, "javascript:") || strings.HasPrefix(value, "vbscript:") || strings.HasPrefix(value, "data:text") {
				found = n.Data + " " + a.Key + "=" + a.Val
			}
		}
	}
	return found
}

// eachText calls use for each feed.Text and feed.MediaText in v.
func eachText(v reflect.Value, use func(kind, value string)) {
	switch x := v.Interface().(type) {
	case feed.Text:
		use(x.Type, x.Value)
	case feed.MediaText:
		use("text/"+strings.TrimPrefix(x.Type, "text/"), x.Value)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			eachText(v.Elem(), use)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachText(v.Index(i), use)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[feed.Date]() {
			return
		}
		for i := range v.NumField() {
			eachText(v.Field(i), use)
		}
	}
}

// safeFeed checks that the HTML in a feed is safe, and that sanitizing it again changes nothing.
func safeFeed(t *testing.T, f *feed.Feed) {
	t.Helper()
	eachText(reflect.ValueOf(f), func(kind, value string) {
		if kind != "text/html" && kind != "application/xhtml+xml" {
			return
		}
		if found := harmful(value); found != "" {
			t.Errorf("unsafe %s in %.300q", found, value)
		}
		if again := sanitize.HTML(value); again != value {
			t.Errorf("sanitized again, %.300q becomes %.300q", value, again)
		}
	})
	if _, err := json.Marshal(f); err != nil {
		t.Error(err)
	}
}

// sanitized returns documents with unsafe HTML in every element that can contain HTML.
func sanitized(tb testing.TB) (docs [][]byte) {
	const bad = `<p onclick="x()">a<script>y</script><img src="i" onerror=z><a href=" java&#10;script:w">b</a>`
	escaped := html.EscapeString(bad)
	js, err := json.Marshal(bad)
	if err != nil {
		tb.Fatal(err)
	}
	for _, doc := range []string{
		`<rss xmlns:media="http://search.yahoo.com/mrss/" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>` + escaped +
			`</title><description>` + escaped + `</description><item><title>` + escaped + `</title><description><![CDATA[` + bad + `]]></description><content:encoded>` + escaped +
			`</content:encoded><media:title type="html">` + escaped + `</media:title><media:description type="html">` + escaped + `</media:description><media:text type="html">` + escaped +
			`</media:text></item><item><description>` + bad + `</description></item></channel></rss>`,
		`<feed xmlns="http://www.w3.org/2005/Atom"><title type="html">` + escaped + `</title><rights type="html">` + escaped + `</rights><entry><title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">` +
			bad + `</div></title><summary type="html">` + escaped + `</summary><content type="xhtml"><x:div xmlns:x="http://www.w3.org/1999/xhtml"><x:script>s</x:script><x:svg onload="q"/></x:div></content><source><title type="html">` +
			escaped + `</title></source></entry></feed>`,
		`<feed version="0.3" xmlns="http://purl.org/atom/ns#"><entry><content type="text/html" mode="base64">PHNjcmlwdD54PC9zY3JpcHQ+PGI+eTwvYj4=</content><title type="text/html" mode="escaped">` + escaped + `</title></entry></feed>`,
		`{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1","content_html":` + string(js) + `}]}`,
		`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>` + escaped +
			`</title></channel><item><dc:description>` + escaped + `</dc:description><description>x</description></item></rdf:RDF>`,
		`<scriptingNews><header/><item><text>` + escaped + ` b</text><link><linetext>b</linetext><url>javascript:x</url></link></item></scriptingNews>`,
		`<CHANNEL HREF="http://c.example/"><ABSTRACT>` + escaped + `</ABSTRACT><ITEM HREF="i"><ABSTRACT>` + escaped + `</ABSTRACT></ITEM></CHANNEL>`,
	} {
		docs = append(docs, []byte(doc))
	}
	files, err := filepath.Glob("../../../feed/testdata/*/*.xml")
	if err != nil || len(files) == 0 {
		tb.Fatal("no documents", err)
	}
	for _, file := range files {
		doc, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		docs = append(docs, doc)
	}
	return docs
}

func TestParsedFeedContainsOnlySafeHTML(t *testing.T) {
	t.Parallel()
	for _, doc := range sanitized(t) {
		f, err := feed.ParseBytes(doc, &feed.Options{URL: "http://h.example/d/f", Sanitize: sanitize.HTML})
		if err == nil {
			safeFeed(t, f)
		}
	}
	if harmful(`<b onclick="x">`) == "" || harmful("<svg><script>") == "" || harmful(`<a href="java
script:x">`) == "" {
		t.Error("harmful does not find unsafe markup")
	}
}

// FuzzParseSanitized is like FuzzParse of package feed, but also sanitizes the HTML.
func FuzzParseSanitized(f *testing.F) {
	for _, doc := range sanitized(f) {
		f.Add(doc, false)
	}
	f.Fuzz(func(t *testing.T, doc []byte, keepRelative bool) {
		got, err := feed.ParseBytes(doc, &feed.Options{URL: "http://h.example/d/f", KeepRelative: keepRelative, Sanitize: sanitize.HTML})
		var not *feed.NotFeedError
		switch {
		case err == nil:
			safeFeed(t, got)
		case !errors.As(err, &not):
			t.Error(err)
		}
	})
}
