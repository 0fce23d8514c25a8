package publishhttp

import (
	"context"
	"strings"
	"testing"

	"cloudburst/internal/author"
	"cloudburst/internal/serve"
)

// overtaken is a store in which a feed is saved again between two reads.
type overtaken struct {
	*author.Feeds
	save func()
}

func (o overtaken) Document(ctx context.Context, user, name string) (author.Feed, []byte, error) {
	o.save()
	return o.Feeds.Document(ctx, user, name)
}

func TestETagOfSaveResponseMatchesServedFeed(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.save(t, author.Public, hostedRSS(1))
	d.Feeds.Authors = overtaken{d.authors, func() { d.save(t, author.Public, hostedRSS(3)) }}
	a := d.do(t, "PUT", "/alice/rss.xml", hostedRSS(2), "basic", aliceBasic, "Content-Type", "application/rss+xml")
	a.is(t, "PUT", 204)
	a.has(t, "PUT", "ETag", `"`+serve.TagOf([]byte(hostedRSS(2)))+`"`)
}

func TestContentTypeBelongsToTheSameVersionAsTheBody(t *testing.T) {
	t.Parallel()
	latin := strings.Replace(hostedRSS(1), `"1.0"`, `"1.0" encoding="iso-8859-1"`, 1)
	latin = strings.Replace(latin, "Item 1", "It\xe9m", 1)
	for _, c := range []struct{ path, kind, words string }{
		{"/alice/rss.xml", "application/rss+xml; charset=iso-8859-1", "It\xe9m"},
		{"/alice/feed.atom", "application/atom+xml; charset=utf-8", "Itém"},
	} {
		d := newHarness(t)
		d.save(t, author.Public, hostedRSS(1))
		d.Feeds.Authors = overtaken{d.authors, func() { d.save(t, author.Public, latin) }}
		a := d.do(t, "GET", c.path, "")
		a.is(t, c.path, 200, c.words)
		a.has(t, c.path, "Content-Type", c.kind)
		body, kind, _, _, _, err := d.OwnDocument(t.Context(), c.path, "")
		if err != nil || string(body) != a.body || kind != c.kind {
			t.Errorf("%s for the hub: %q, %v, %.200s", c.path, kind, err, body)
		}
	}
}
