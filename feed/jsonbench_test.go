package feed_test

import (
	"strconv"
	"strings"
	"testing"

	"cloudburst/feed"
)

// jsonOf returns a JSON Feed of n items. Their HTML has the escapes of several JSON encoders:
// quotes and line ends, some slashes, and some characters beyond ASCII.
func jsonOf(n int) string {
	para := `<p class=\"lead\">In the morning the caf\u00e9 on the corner opens its doors, and <a href=\"https:\/\/example.org\/2024\/05\/morning\">people<\/a> come in for bread.<\/p>\n<p>By noon it is full; the owner says \"come back at three\" and <em>means<\/em> it.<\/p>\n`
	var b strings.Builder
	b.WriteString(`{"version":"https://jsonfeed.org/version/1.1","title":"Mornings","home_page_url":"https://example.org/","feed_url":"https://example.org/feed.json","items":[`)
	for i := range n {
		id := strconv.Itoa(i)
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"id":"https://example.org/` + id + `","url":"https://example.org/` + id + `","title":"Morning ` + id +
			`","date_published":"2024-05-01T08:30:00+02:00","tags":["bread","mornings"],"authors":[{"name":"Ada","url":"https://example.org/ada"}],"content_html":"`)
		b.WriteString(strings.Repeat(para, 8))
		b.WriteString(`"}`)
	}
	b.WriteString("]}")
	return b.String()
}

// BenchmarkParseJSON parses feeds of 15 kB and of 1.5 MB.
func BenchmarkParseJSON(b *testing.B) {
	for _, n := range []int{7, 700} {
		doc := []byte(jsonOf(n))
		b.Run(strconv.Itoa(len(doc)/1000)+"kB", func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := feed.ParseBytes(doc, &feed.Options{URL: "https://example.org/feed.json"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
