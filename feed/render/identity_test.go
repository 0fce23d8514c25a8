package render

import (
	"strings"
	"testing"

	"cloudburst/feed"
)

func TestHashedIDsBecomeURNs(t *testing.T) {
	t.Parallel()
	doc := `<rss version="2.0"><channel><title>C</title><link>http://h.example/</link><description>d</description>` +
		`<item><title>News</title><pubDate>Fri, 20 Nov 2026 08:30:00 GMT</pubDate></item></channel></rss>`
	f, err := feed.ParseBytes([]byte(doc), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"rss20", "atom", "rdf", "jsonfeed"} {
		out := string(written(t, f, format))
		if strings.Contains(out, `>hash:`) || strings.Contains(out, `"hash:`) {
			t.Errorf("%s has an ID of an unregistered scheme:\n%s", format, out)
		}
		again, err := feed.ParseBytes([]byte(out), nil)
		if err != nil {
			t.Fatal(err)
		}
		if id := again.Items[0].ID; !strings.HasPrefix(id, "urn:uuid:") {
			t.Errorf("%s: the ID is %s", format, id)
		}
	}
}

func TestAtomSourceElementContainsIDAndUpdated(t *testing.T) {
	t.Parallel()
	doc := `<rss version="2.0"><channel><title>C</title><link>http://h.example/</link><description>d</description>` +
		`<item><guid>http://h.example/1</guid><pubDate>Fri, 20 Nov 2026 08:30:00 GMT</pubDate><source url="http://other.example/rss.xml">Other</source></item>` +
		`<item><guid>http://h.example/2</guid><source url="http://other.example/rss.xml">Other</source></item></channel></rss>`
	out := string(written(t, reread(t, []byte(doc)), "atom"))
	for _, want := range []string{
		"<source>\n      <id>http://other.example/rss.xml</id>\n      <title>Other</title>\n      <updated>2026-11-20T08:30:00Z</updated>",
		"<source>\n      <id>http://other.example/rss.xml</id>\n      <title>Other</title>\n      <link", // the second source has no date
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is missing in\n%s", want, out)
		}
	}
}
