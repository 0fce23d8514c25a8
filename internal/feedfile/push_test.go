package feedfile

import (
	"strings"
	"testing"

	"cloudburst/feed"
	"cloudburst/feed/render"
)

func pushOptions() render.Options {
	return render.Options{Self: "https://hub.example/alice/rss.xml?a=1&b=2", Hubs: []string{"https://hub.example/websub"},
		Cloud: &feed.Cloud{Domain: "hub.example", Port: "80", Path: "/rsscloud/pleaseNotify", Protocol: "http-post"}}
}

// TestAddPushInsertsElementsAndKeepsOtherBytes checks for each format that the text is inserted at one place, that
// all other bytes are unchanged, and that a parser finds the cloud and the hubs.
func TestAddPushInsertsElementsAndKeepsOtherBytes(t *testing.T) {
	t.Parallel()
	const (
		cloud = `<cloud domain="hub.example" port="80" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="http-post"/>`
		self  = `<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="self" href="https://hub.example/alice/rss.xml?a=1&amp;b=2"/>`
		hub   = `<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="hub" href="https://hub.example/websub"/>`
	)
	const rest = "<title>a &amp; b</title>\r\n<!-- c --><item><title>\xc3\xa9</title></item>"
	for name, c := range map[string]struct {
		before, after string
		added         string
	}{
		"RSS 2.0":  {"<?xml version='1.0'?>\n<rss version=\"2.0\"><channel>", "\n" + rest + "</channel></rss>\n", cloud + self + hub},
		"RSS 0.92": {"<rss version='0.92'><channel >", rest + "</channel></rss>", cloud},
		"RSS in a namespace": {"<x:rss xmlns:x='http://backend.userland.com/rss2' version='2.0'><x:channel>", "<x:title>t</x:title></x:channel></x:rss>",
			strings.Replace(cloud, "<cloud", `<cloud xmlns="http://backend.userland.com/rss2"`, 1) + self + hub},
		"Atom": {"<feed xmlns='http://www.w3.org/2005/Atom'>", "<title>t</title><id>urn:x</id><updated>2020-01-01T00:00:00Z</updated></feed>",
			strings.Replace(cloud, "<cloud", `<cloud xmlns=""`, 1) +
				`<link xmlns="http://www.w3.org/2005/Atom" rel="self" href="https://hub.example/alice/rss.xml?a=1&amp;b=2"/><link xmlns="http://www.w3.org/2005/Atom" rel="hub" href="https://hub.example/websub"/>`},
		"RSS 1.0": {`<rdf:RDF xmlns:rdf="` + nsRDF + `" xmlns="` + nsRSS10 + `"><channel rdf:about="http://e.x/">`, "<title>t</title></channel><item rdf:about='http://e.x/1'><title>a</title></item></rdf:RDF>", self + hub},
		"JSON Feed": {` {`, `"version":"https://jsonfeed.org/version/1.1","title":"t","items":[{"id":"1","content_text":"x"}]}`,
			`"feed_url":"https://hub.example/alice/rss.xml?a=1\u0026b=2","hubs":[{"type":"WebSub","url":"https://hub.example/websub"},{"type":"rssCloud","url":"http://hub.example/rsscloud/pleaseNotify"}],`},
		"with its own URL": {"<rss version=\"2.0\"><channel>", strings.Replace(self, "alice", "bob", 1) + rest + "</channel></rss>", cloud + hub},
		"windows-1252":     {"<?xml version='1.0' encoding='windows-1252'?><rss version='2.0'><channel>", "<title>\x80</title></channel></rss>", cloud + self + hub},
	} {
		doc := c.before + c.after
		if err := CheckPush([]byte(doc)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got, err := AddPush([]byte(doc), "", pushOptions())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := c.before + c.added + c.after; string(got) != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
		f, err := feed.ParseBytes(got, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, p := range f.Problems {
			if name != "RSS in a namespace" {
				t.Errorf("%s: %+v", name, p)
			}
		}
		if strings.Contains(c.added, "<cloud") && (len(f.Clouds) != 1 || f.Clouds[0] != *pushOptions().Cloud) {
			t.Errorf("%s: the cloud is read as %+v", name, f.Clouds)
		}
		if (strings.Contains(c.added, "hub.example/websub")) != (len(f.Hubs) > 0) || f.Self == "" && name != "RSS 0.92" {
			t.Errorf("%s: hubs %+v, self %q", name, f.Hubs, f.Self)
		}
		second, err := AddPush(got, "", pushOptions())
		if err != nil || string(second) != string(got) {
			t.Errorf("%s: applied twice: %s, %v", name, second, err)
		}
	}
}

func TestAddPushRejectsFormatsWithoutPush(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]string{
		"RSS 0.91":      "<rss version='0.91'><channel><title>t</title></channel></rss>",
		"RSS 0.90":      `<rdf:RDF xmlns:rdf="` + nsRDF + `" xmlns="` + nsRSS090 + `"><channel><title>t</title></channel></rdf:RDF>`,
		"CDF":           `<CHANNEL HREF="http://e.x/"><TITLE>t</TITLE></CHANNEL>`,
		"empty channel": `<rdf:RDF xmlns:rdf="` + nsRDF + `" xmlns="` + nsRSS10 + `"><channel rdf:about="http://e.x/"/></rdf:RDF>`,
		"UTF-32":        "\xff\xfe\x00\x00<\x00\x00\x00",
	} {
		if err := CheckPush([]byte(doc)); err == nil {
			t.Errorf("%s: CheckPush returns no error", name)
		}
		if got, err := AddPush([]byte(doc), "", pushOptions()); err == nil {
			t.Errorf("%s became %s", name, got)
		}
	}
}

func FuzzAddPush(f *testing.F) {
	for _, doc := range []string{
		"<rss version='2.0'><channel><title>t</title></channel></rss>",
		"<feed xmlns='http://www.w3.org/2005/Atom'><title>t</title></feed>",
		`{"version":"https://jsonfeed.org/version/1.1","items":[]}`,
		`<rdf:RDF xmlns:rdf="` + nsRDF + `" xmlns="` + nsRSS10 + `"><channel><title>t</title></channel></rdf:RDF>`,
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if len(doc) > 1<<16 {
			return
		}
		got, err := AddPush(doc, "", pushOptions())
		if err != nil {
			return
		}
		// The text is inserted at one place: the bytes before and after the text are the document.
		n := 0
		for n < len(doc) && n < len(got) && doc[n] == got[n] {
			n++
		}
		if tail := len(doc) - n; len(got) < len(doc) || string(got[len(got)-tail:]) != string(doc[n:]) {
			t.Errorf("%q became %q", doc, got)
		}
		if second, err := AddPush(got, "", pushOptions()); err != nil || string(second) != string(got) {
			t.Errorf("%q became %q and then %q, %v", doc, got, second, err)
		}
	})
}
