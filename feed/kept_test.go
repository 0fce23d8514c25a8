package feed_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"cloudburst/feed"
	"cloudburst/internal/fulltest"
)

// author writes random documents. Each word, and each number of a date, occurs only once in a
// document.
type author struct {
	r     *rand.Rand
	b     strings.Builder
	words []string
}

func (a *author) word() string {
	w := fmt.Sprintf("w%dx%d", len(a.words), a.r.IntN(1000))
	a.words = append(a.words, w)
	return w
}

func (a *author) pick(list []string) string { return list[a.r.IntN(len(list))] }

// leaf writes an element whose text has the type that its name requires.
func (a *author) leaf(name string) {
	text := a.word()
	switch a.r.IntN(6) {
	case 0:
		text = "<![CDATA[" + text + "]]>"
	case 1:
		text = " \n" + text + "\t"
	case 2:
		text = "&lt;b&gt;" + text + "&lt;/b&gt; &amp;amp; more"
	}
	attrs := ""
	if a.r.IntN(4) == 0 {
		attrs = a.pick([]string{` xml:lang="de"`, ` xml:base="http://b.example/"`, ` x:y="z"`, ` type="html"`, ` type="text"`, ` type="text/plain"`})
	}
	fmt.Fprintf(&a.b, "<%s%s>%s</%s>", name, attrs, text, name)
}

// tree writes an element that no format defines, with child elements.
func (a *author) tree(depth int) {
	name := a.pick([]string{"x:a", "x:b", "y:c", "oddity", "Strange", "z:undeclared"})
	if depth == 0 || a.r.IntN(3) == 0 {
		a.leaf(name)
		return
	}
	fmt.Fprintf(&a.b, `<%s at="%s">`, name, a.word())
	for range a.r.IntN(4) {
		a.tree(depth - 1)
	}
	fmt.Fprintf(&a.b, "</%s>", name)
}

// parent writes an element with this name and child elements.
func (a *author) parent(name string, leaves ...string) {
	fmt.Fprintf(&a.b, "<%s>", name)
	for range 1 + a.r.IntN(4) {
		switch a.r.IntN(8) {
		case 0:
			a.tree(1)
		default:
			a.leaf(a.pick(leaves))
		}
	}
	fmt.Fprintf(&a.b, "</%s>", name)
}

func (a *author) date(name string) {
	n := len(a.words)
	w := fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02dZ", 1990+a.r.IntN(40), 1+a.r.IntN(12), 1+a.r.IntN(28), n/3600%24, n/60%60, n%60)
	a.words = append(a.words, w)
	fmt.Fprintf(&a.b, "<%s>%s</%s>", name, w, name)
}

func (a *author) attributes(name string, names ...string) {
	a.b.WriteString("<" + name)
	for _, n := range names {
		if a.r.IntN(2) == 0 {
			fmt.Fprintf(&a.b, ` %s="%s"`, n, a.word())
		}
	}
	if a.r.IntN(2) == 0 {
		a.b.WriteString("/>")
		return
	}
	fmt.Fprintf(&a.b, ">%s</%s>", a.word(), name)
}

// everywhere writes elements that feeds and items can have in all formats.
func (a *author) everywhere() {
	switch a.r.IntN(12) {
	case 0:
		a.tree(3)
	case 1:
		a.date(a.pick([]string{"pubDate", "published", "updated", "dc:date", "dcterms:modified", "dcterms:issued", "issued", "modified", "created", "dcterms:created"}))
	case 2:
		a.leaf(a.pick([]string{"author", "contributor", "managingEditor", "dc:creator", "dc:publisher", "itunes:author", "webMaster"}))
	case 3:
		a.parent(a.pick([]string{"author", "contributor", "itunes:owner"}), "name", "email", "uri", "url", "homepage", "image", "foaf:name", "nick", "itunes:name")
	case 4:
		a.withAttributes()
	case 5:
		a.parent("media:group", "media:title", "media:description", "media:hash", "media:credit", "title", "media:unheard", "x:a", "media:status", "media:rights", "media:embed")
	case 6:
		a.parent(a.pick([]string{"media:content", "media:community", "media:location", "media:scenes", "media:comments", "media:embed", "media:scene"}), "media:title", "media:tags", "sceneTitle", "media:comment", "media:param", "georss:point", "media:statistics")
	case 7:
		a.leaf("itunes:" + a.pick([]string{"title", "subtitle", "summary", "keywords", "explicit", "block", "duration", "order", "episode", "season", "type", "complete", "unheard", "category", "image", "new-feed-url"}))
	case 8:
		a.leaf("podcast:" + a.pick([]string{"guid", "locked", "medium", "season", "episode", "txt", "funding", "chapters", "transcript", "license", "person", "location", "soundbite", "trailer", "value", "unheard", "updateFrequency", "images"}))
	case 9:
		a.leaf(a.pick([]string{"dc:title", "dc:description", "dc:subject", "dc:rights", "dc:language", "dc:identifier", "dc:source", "dc:coverage", "dcterms:abstract", "dcterms:valid", "dcterms:license", "cc:license", "creativeCommons:license"}))
	case 10:
		a.leaf(a.pick([]string{"georss:point", "georss:line", "georss:polygon", "georss:circle", "georss:elev", "geo:lat", "geo:long", "georss:where", "gml:pos", "georss:radius"}))
	case 11:
		a.leaf(a.pick([]string{"title", "description", "summary", "subtitle", "tagline", "rights", "copyright", "id", "guid", "link", "language", "keywords", "tags", "content", "content:encoded", "rating", "textInput", "image"}))
	}
}

// withAttributes writes an element with the attributes that its format defines. The parser drops
// other attributes of known elements.
func (a *author) withAttributes() {
	switch a.r.IntN(9) {
	case 0:
		a.attributes("category", "term", "scheme", "label")
	case 1:
		a.attributes("media:credit", "role", "scheme")
	case 2:
		a.attributes("media:rating", "scheme")
	case 3:
		a.attributes("media:restriction", "relationship", "type")
	case 4:
		a.attributes("media:text", "type", "lang", "start", "end")
	case 5:
		a.attributes("media:price", "type", "info", "price", "currency")
	case 6:
		a.attributes("media:license", "type", "href")
	case 7:
		a.attributes("podcast:location", "geo", "osm", "rel", "country")
	case 8:
		a.attributes("generator", "uri", "version")
	}
}

func (a *author) feedPart() {
	switch a.r.IntN(6) {
	case 0:
		a.parent("image", "url", "title", "link", "description", "x:a")
	case 1:
		a.parent("textInput", "title", "description", "name", "link", "unheard")
	case 2:
		a.leaf(a.pick([]string{"ttl", "docs", "generator", "icon", "logo", "info", "errorReportsTo", "cloud", "skipDays", "skipHours", "lastBuildDate"}))
	case 3:
		a.leaf(a.pick([]string{"sy:updatePeriod", "sy:updateFrequency", "sy:updateBase", "admin:generatorAgent", "admin:errorReportsTo", "feedburner:browserFriendly", "fh:archive", "fh:complete", "fh:incremental", "sy:unheard"}))
	case 4:
		a.leaf(a.pick([]string{"blogChannel:blogRoll", "blogChannel:blink", "blogChannel:unheard", "opensearch:totalResults", "opensearch:startIndex", "opensearch:Query", "source:account", "source:self", "source:cloud", "source:localTime", "source:blogroll"}))
	default:
		a.everywhere()
	}
}

func (a *author) itemPart(depth int) {
	switch a.r.IntN(8) {
	case 0:
		a.leaf(a.pick([]string{"comments", "slash:comments", "slash:section", "slash:department", "slash:hit_parade", "wfw:comment", "wfw:commentRss", "thr:total", "thr:in-reply-to"}))
	case 1:
		a.leaf(a.pick([]string{"feedburner:origLink", "feedburner:origEnclosureLink", "source:markdown", "source:localTime", "source:account", "source:inReplyTo", "source:linkShort", "enclosure", "app:edited", "app:control", "expirationDate"}))
	case 2:
		a.attributes("enclosure", "url", "type", "title")
	case 3:
		a.parent("psc:chapters", "psc:chapter", "psc:remark")
	case 4:
		if a.r.IntN(2) == 0 {
			a.leaf("source")
		} else {
			a.parent("source", "title", "subtitle", "id", "link", "rights", "icon", "logo", "generator", "author", "category", "x:a", "updated", "published", "content", "language")
		}
	case 5:
		a.parent("app:control", "app:draft", "x:a")
	case 6:
		if depth > 0 {
			a.item("rssCloud:item", depth-1)
		}
	default:
		a.everywhere()
	}
}

func (a *author) item(name string, depth int) {
	fmt.Fprintf(&a.b, "<%s>", name)
	for range 1 + a.r.IntN(14) {
		a.itemPart(depth)
	}
	fmt.Fprintf(&a.b, "</%s>", name)
}

const declarations = ` xmlns:x="urn:x" xmlns:y="http://y.example/ns#" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"` +
	` xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:media="http://search.yahoo.com/mrss/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"` +
	` xmlns:podcast="https://podcastindex.org/namespace/1.0" xmlns:georss="http://www.georss.org/georss" xmlns:gml="http://www.opengis.net/gml"` +
	` xmlns:geo="http://www.w3.org/2003/01/geo/wgs84_pos#" xmlns:source="http://source.scripting.com/" xmlns:rssCloud="http://rsscloud.org/" xmlns:foaf="http://xmlns.com/foaf/0.1/"`

// document returns a complete document in a random format.
func (a *author) document() string {
	open := []string{`<rss version="2.0"` + declarations + `><channel>`, `<rss version="0.92"` + declarations + `><channel>`,
		`<feed xmlns="http://www.w3.org/2005/Atom"` + declarations + `>`, `<feed version="0.3" xmlns="http://purl.org/atom/ns#"` + declarations + `>`}
	format := a.r.IntN(len(open))
	item, end := "item", "</channel></rss>"
	if format >= 2 {
		item, end = "entry", "</feed>"
	}
	a.b.WriteString(open[format])
	for range a.r.IntN(12) {
		a.feedPart()
	}
	for range a.r.IntN(4) {
		a.item(item, 2)
		a.feedPart()
	}
	a.b.WriteString(end)
	return a.b.String()
}

// lost returns the words of a document that are missing in the parsed feed.
func lost(doc string, words []string) (out []string, f *feed.Feed, err error) {
	f, err = feed.ParseBytes([]byte(doc), &feed.Options{KeepRelative: true, Limits: feed.Limits{Problems: 1}})
	if err != nil {
		return nil, nil, err
	}
	f.Problems = nil // problems quote the values that could not be parsed, so they do not count
	text, err := json.Marshal(f)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range words {
		if !strings.Contains(string(text), w) {
			out = append(out, w)
		}
	}
	return out, f, nil
}

func TestParserKeepsReadableText(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	for seed := range uint64(1500) {
		a := &author{r: rand.New(rand.NewPCG(seed, 7))}
		doc := a.document()
		gone, _, err := lost(doc, a.words)
		if err != nil {
			t.Fatal(err)
		}
		if len(gone) > 0 {
			t.Errorf("seed %d: %s is not in the feed: %s", seed, gone[0], around(doc, gone[0]))
		}
	}
}

// TestTextCheckDetectsMissingText checks that lost detects a missing text.
func TestTextCheckDetectsMissingText(t *testing.T) {
	t.Parallel()
	gone, _, err := lost(`<rss version="2.0"><channel><title>here</title><!-- there --></channel></rss>`, []string{"here", "there"})
	if err != nil || !slices.Equal(gone, []string{"there"}) {
		t.Errorf("lost %q, error %v", gone, err)
	}
}

// around returns the surroundings of a word in a document.
func around(doc, word string) string {
	i := strings.Index(doc, word)
	return doc[max(i-200, 0):min(i+100, len(doc))]
}
