package author_test

import (
	"strings"
	"testing"

	"cloudburst/internal/author"
)

func TestItemTextContainsAttachedImages(t *testing.T) {
	t.Parallel()
	p := &author.Posts{Origin: func() string { return "https://cloud.test" }}
	image := author.Enclosure{URL: "/alice/media/0123456789abcdef/a.jpg", Type: "image/jpeg", Length: 5, Alt: `A "cloud" & <sky>`}
	const shown = `<img src="https://cloud.test/alice/media/0123456789abcdef/a.jpg"`
	for name, tt := range map[string]struct {
		content author.Content
		text    string
	}{
		"a photo post":         {author.Content{HTML: "<p>Clouds</p>", Enclosures: []author.Enclosure{image}}, `<p>Clouds</p><p>` + shown + ` alt="A &#34;cloud&#34; &amp; &lt;sky&gt;"></p>`},
		"without a text":       {author.Content{Enclosures: []author.Enclosure{image}}, `<p>` + shown + ` alt="A &#34;cloud&#34; &amp; &lt;sky&gt;"></p>`},
		"shown in the text":    {author.Content{HTML: `<p><img src="/alice/media/0123456789abcdef/a.jpg" alt="x"></p>`, Enclosures: []author.Enclosure{image}}, `<p>` + shown + ` alt="x"></p>`},
		"an image elsewhere":   {author.Content{HTML: "<p>x</p>", Enclosures: []author.Enclosure{{URL: "https://a.example/?a=1&b=2", Type: "image/png"}}}, `<p>x</p><p><img src="https://a.example/?a=1&amp;b=2" alt=""></p>`},
		"what is not an image": {author.Content{HTML: "<p>x</p>", Enclosures: []author.Enclosure{{URL: "https://a.example/a.mp3", Type: "audio/mpeg"}}}, "<p>x</p>"},
	} {
		it := p.Item(author.Post{User: "alice", Content: tt.content})
		if it.Summary.Value != tt.text || it.Summary.Type != "text/html" {
			t.Errorf("%s: %q\nwant %q", name, it.Summary.Value, tt.text)
		}
		if len(it.Enclosures) != 1 || !strings.HasPrefix(it.Enclosures[0].URL, "https://") {
			t.Errorf("%s: %+v", name, it.Enclosures)
		}
	}
}
