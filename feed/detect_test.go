package feed

import (
	"errors"
	"net/http"
	"strings"
	"testing"
)

func TestNotFeedErrorNamesTheDetectedType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, doc, looks, says string }{
		{"empty document", "", "empty", "is empty"},
		{"white space", " \r\n\t ", "empty", "is empty"},
		{"only a byte order mark", "\ufeff", "empty", "is empty"},
		{"HTML page", "<!DOCTYPE html><html><head><title>x</title></head></html>", "html", "a web page"},
		{"HTML without a head", "<p>Hello <b>world</b></p><body>", "html", "a web page"},
		{"HTML page with a feed link", `<html><head><link rel="alternate" type="application/rss+xml" href="http://a.example/rss"></head></html>`, "html", "it names http://a.example/rss"},
		{"HTML page that mentions a feed later", "<html><body>" + strings.Repeat("<p>x</p>", 200) + `<rss version="2.0"><channel/></rss></body></html>`, "html", "a web page"},
		{"HTML page with a similar element", "<html><body><rssfeed/></body></html>", "html", "a web page"},
		{"JSON", `{"name":"x"}`, "json", "it has no version; its members are name"},
		{"JSON array", `[1,2]`, "json", "JSON"},
		{"OPML", `<opml version="2.0"><body/></opml>`, "opml", "list of feeds"},
		{"other XML", `<?xml version="1.0"?><note><to>you</to></note>`, "xml", "<note>"},
		{"sitemap", `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url/></urlset>`, "xml", "<urlset>"},
		{"only an XML declaration", `<?xml version="1.0"?>`, "xml", "no elements"},
		{"text", "hello", "text", "plain text"},
		{"SVG", `<svg xmlns="http://www.w3.org/2000/svg"/>`, "image", "image"},
		{"PNG", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "image", "image"},
		{"JPEG", "\xff\xd8\xff\xe0\x00\x10JFIF", "image", "image"},
		{"WebP", "RIFF\x00\x00\x00\x00WEBPVP8 ", "image", "image"},
		{"PDF", "%PDF-1.7\n", "pdf", "PDF document"},
		{"gzip", "\x1f\x8b\x08\x00\x00\x00", "gzip", "unpack"},
		{"zip", "PK\x03\x04\x14\x00", "zip", "unpack"},
		{"MP3", "ID3\x03\x00", "audio", "recording"},
		{"MP4", "\x00\x00\x00\x18ftypmp42", "video", "recording"},
		{"binary data", "\x9c\x01\x03<\xe9\x8c\x05\x06\x07\x11\x12\xff\x14\x15\x16\x17\x18\x80\xfe<a b>", "binary", "unknown format"},
		{"binary data that is valid windows-1252", "\xf0\xe8\x02\xeb<\xfa \xe1\x03\x04>\x05\x06\x07\x0e\x0f\x11\x12\x14\xc3\xa9", "binary", "unknown format"},
		{"executable", "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "<a>", "binary", "unknown format"},
	} {
		f, err := ParseBytes([]byte(c.doc), nil)
		e, ok := errors.AsType[*NotFeedError](err)
		if !ok {
			t.Errorf("%s: %v, %v", c.name, f, err)
			continue
		}
		if e.Looks != c.looks || !strings.Contains(e.Error(), c.says) {
			t.Errorf("%s: type %q, message %q", c.name, e.Looks, e)
		}
	}
}

func TestContentTypeThatIsNotForFeedsIsReported(t *testing.T) {
	t.Parallel()
	for typ, want := range map[string]bool{
		"text/html": true, "Text/HTML; charset=utf-8": true, "application/xhtml+xml": true, "text/plain": true,
		"image/png": true, "image/svg+xml": true, "application/octet-stream": true, "nonsense": true,
		"": false, "application/rss+xml": false, "TEXT/XML; charset=utf-8": false, "application/x-rss": false,
		"application/feed+json": false, "application/json": false, "application/x-cdf": false, "application/rdf+xml": false,
	} {
		f, err := ParseBytes([]byte(`<rss version="2.0"><channel><title>T</title></channel></rss>`), &Options{Header: map[string][]string{"Content-Type": {typ}}})
		if err != nil {
			t.Fatal(err)
		}
		reported := false
		for _, p := range f.Problems {
			reported = reported || p.Kind == ProblemType
		}
		if reported != want {
			t.Errorf("%q: %v", typ, f.Problems)
		}
	}
}

func TestHTMLPageInLegacyEncodingIsDecodedOnce(t *testing.T) {
	t.Parallel()
	page := "<html><head><link rel=\"alternate\" type=\"application/rss+xml\" href=\"/rss\" title=\"\x93\xfa\x96{\"></head></html>"
	_, err := ParseBytes([]byte(page), &Options{URL: "http://a.example/", Header: http.Header{"Content-Type": {"text/html; charset=shift_jis"}}})
	e, ok := errors.AsType[*NotFeedError](err)
	if !ok || len(e.Feeds) != 1 || e.Feeds[0].Title != "日本" {
		t.Errorf("%+v", err)
	}
}
