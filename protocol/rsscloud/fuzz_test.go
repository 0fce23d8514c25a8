package rsscloud_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudburst/protocol/rsscloud"

	"github.com/google/go-cmp/cmp"
)

// seeds adds the documents of testdata to a fuzz target.
func seeds(f *testing.F, pattern string) {
	f.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		f.Fatalf("%d files for %s, %v", len(files), pattern, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
}

func FuzzForm(f *testing.F) {
	for _, s := range []string{pingBody, pleaseBody, pleaseBody + "&domain=example.com", "url1=a&URL2=%41&&=&a=b=c", "url=%zz", "a;b", "\uFEFFurl=a\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		form, err := rsscloud.ParseForm(body)
		if err != nil {
			if form != nil {
				t.Fatalf("a form was returned with %v", err)
			}
			return
		}
		again, err := rsscloud.ParseForm(form.Encode())
		if len(form.Encode()) > rsscloud.MaxForm {
			return // the encoded form is longer than the limit
		}
		if d := cmp.Diff(form, again); err != nil || d != "" {
			t.Fatalf("%v\n%s", err, d)
		}
		g, err := form.Registration()
		if err != nil {
			return
		}
		back, err := g.Form().Registration()
		if d := cmp.Diff(g, back); err != nil || d != "" {
			t.Fatalf("%v\n%s", err, d)
		}
	})
}

func FuzzFindCloud(f *testing.F) {
	seeds(f, "testdata/cloud/*.xml")
	f.Fuzz(func(t *testing.T, feed []byte) {
		c, err := rsscloud.FindCloud(feed, "http://feeds.example/rss.xml")
		if err != nil {
			if c != (rsscloud.Cloud{}) {
				t.Fatalf("%+v with %v", c, err)
			}
			return
		}
		again, err := rsscloud.FindCloud([]byte("<rss><channel>"+c.String()), "")
		if d := cmp.Diff(c, again); err != nil || d != "" {
			t.Fatalf("%s: %v\n%s", c, err, d)
		}
	})
}

func FuzzParseResult(f *testing.F) {
	seeds(f, "testdata/answers/*")
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := rsscloud.ParseResult(body)
		if err != nil {
			return
		}
		r.Msg = strings.ToValidUTF8(r.Msg, "\uFFFD")
		for _, doc := range [][]byte{r.XML("result"), r.XML("notifyResult"), r.JSON()} {
			again, err := rsscloud.ParseResult(doc)
			if len(doc) > 64<<10 {
				continue
			}
			if doc[0] == '<' {
				r.Msg = printable(r.Msg)
			}
			if err != nil || again.Success != r.Success || printable(again.Msg) != printable(r.Msg) {
				t.Fatalf("%q: %+v became %+v, %v", doc, r, again, err)
			}
		}
	})
}

// printable returns the characters of s that XML can carry.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return 0xFFFD
		}
		return r
	}, s)
}

func FuzzCallback(f *testing.F) {
	f.Add("http-post", "example.com", 80, "/a?b")
	f.Add("https-post", "[2001:db8::1]", 8443, "a%20b")
	f.Add("xml-rpc", "::ffff:192.0.2.1", 443, "/RPC2")
	f.Add("soap", "grün.example", 1, "?")
	f.Fuzz(func(t *testing.T, protocol, host string, port int, path string) {
		callback, err := rsscloud.CallbackURL(protocol, host, port, path)
		if err != nil {
			return
		}
		if strings.ContainsFunc(callback, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Fatalf("%q has bytes that are invalid in a request line", callback)
		}
		p, h, n, q, err := rsscloud.SplitCallback(protocol, callback)
		if err != nil {
			if protocol == rsscloud.HTTPSPost || port == 443 {
				return // https-post on port 80 cannot be split and joined again
			}
			t.Fatalf("%s: %v", callback, err)
		}
		if again, err := rsscloud.CallbackURL(p, h, n, q); err != nil || again != callback {
			t.Fatalf("%s became %s, %v", callback, again, err)
		}
	})
}

func FuzzConsent(f *testing.F) {
	f.Add("text/html", []byte("<p>challenge=abc"), "abc")
	f.Add("text/plain", []byte("abc"), "abc")
	f.Add("text/html", []byte("<!--<script><a href='abc"), "abc")
	f.Fuzz(func(t *testing.T, contentType string, body []byte, challenge string) {
		if rsscloud.CheckConsent(200, contentType, body, challenge, "http://f.example/") == nil && !strings.Contains(string(body), challenge) {
			t.Fatal("consent without the challenge")
		}
	})
}
