package webmention_test

import (
	"net/http"
	"testing"

	"cloudburst/protocol/webmention"
)

func FuzzParseRequest(f *testing.F) {
	for _, s := range []string{
		string(webmention.Request{Source: "https://you.example/a", Target: "https://me.example/b#c"}.Encode()),
		"source=%zz", "source=http://a&target=http://a/", "a;b", "&&source=&target", "source=http://a&target=http://b&vouch=http://c",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		q, err := webmention.ParseRequest(body)
		if err != nil {
			if q != (webmention.Request{}) {
				t.Fatalf("a request was returned with the error: %+v", q)
			}
			return
		}
		if again, err := webmention.ParseRequest(q.Encode()); err != nil || again != q {
			t.Fatalf("%+v became %+v, %v", q, again, err)
		}
	})
}

func FuzzDocument(f *testing.F) {
	for _, s := range []string{
		`<base href="//b.example/"><link rel=webmention href="x?y#z"><a href="">x</a>`, `<!-- <a rel=webmention href=x> --><template><noscript><a href=x>`,
		`{"a":["https://me.example/post"]}`, "See https://me.example/post.", "\xff\xfe<\x00a\x00", "</template><a rel=webmention href>",
	} {
		f.Add(s, "text/html", `<a>; rel="webmention"`)
		f.Add(s, "", "")
		f.Add(s, "application/json", "<>;rel=webmention")
	}
	f.Fuzz(func(t *testing.T, doc, contentType, link string) {
		const at = "https://you.example/page"
		endpoint, ok := webmention.Endpoint(http.Header{"Content-Type": {contentType}, "Link": {link}}, at, []byte(doc))
		if ok != (webmention.CheckURL("endpoint", endpoint) == nil) {
			t.Fatalf("%t with the endpoint %q", ok, endpoint)
		}
		if e := webmention.ReadEntry([]byte(doc), contentType, at, at+"/x"); len([]rune(e.Text)) > webmention.MaxText || e.AuthorURL != "" && webmention.CheckURL("author", e.AuthorURL) != nil {
			t.Fatalf("%+v", e)
		}
		links := webmention.Links([]byte(doc), contentType, at)
		if len(links) > webmention.MaxLinks {
			t.Fatalf("%d links", len(links))
		}
		for _, l := range links {
			if !webmention.Mentions([]byte(doc), "text/html", at, l) && contentType == "text/html" {
				t.Fatalf("the document links to %q and does not mention it", l)
			}
		}
	})
}
