package feed

// slots contains pointers to the fields of a feed, an item or a source. Many elements have the same
// meaning in all three.
type slots struct {
	level        level
	id           *string
	title        *Text
	titleDepth   int // depth of the element from which the title was read; 0: there is no title
	summary      *Text
	summaryDepth int
	names        names
	content      *[]Text // nil: feeds and sources have no content
	rights       *Text
	link         *string
	links        *[]Link
	published    *Date
	updated      *Date
	authors      *[]Person
	podcaster    int // index in authors of the person of itunes:author, from 1; 0: none
	contributors *[]Person
	publisher    **Person
	categories   *[]Category
	generator    **Generator
	media        **Media
	itunes       **ITunes
	podcast      **Podcast
	unknown      *[]Node
	language     string // the value of the last language element
}

// names records which element set a value that several elements can set.
type names struct{ id, summary, published, updated string }

// borrowed is added to the depth of a title or summary that also has its own field, so that any
// other title or summary takes precedence.
const borrowed = 1 << 20

type level uint8

const (
	ofFeed level = iota
	ofItem
	ofSource
)

func feedSlots(f *Feed) *slots {
	return &slots{
		level: ofFeed, id: &f.ID, title: &f.Title, summary: &f.Subtitle, rights: &f.Rights,
		link: &f.Link, links: &f.Links, published: &f.Published, updated: &f.Updated,
		authors: &f.Authors, contributors: &f.Contributors, publisher: &f.Publisher,
		categories: &f.Categories, generator: &f.Generator,
		media: &f.Media, itunes: &f.ITunes, podcast: &f.Podcast, unknown: &f.Unknown,
	}
}

func itemSlots(it *Item) *slots {
	return &slots{
		level: ofItem, id: &it.ID, title: &it.Title, summary: &it.Summary, content: &it.Content,
		link: &it.Link, links: &it.Links, published: &it.Published, updated: &it.Updated,
		authors: &it.Authors, contributors: &it.Contributors, categories: &it.Categories,
		media: &it.Media, itunes: &it.ITunes, podcast: &it.Podcast, unknown: &it.Unknown,
	}
}

func sourceSlots(s *Source) *slots {
	return &slots{
		level: ofSource, id: &s.ID, title: &s.Title, summary: &s.Subtitle, rights: &s.Rights,
		link: &s.Link, links: &s.Links, updated: &s.Updated, published: new(Date),
		authors: &s.Authors, contributors: &s.Contributors, categories: &s.Categories, generator: &s.Generator,
		unknown: new([]Node),
	}
}

// more returns the rarely used fields of the current item.
func (p *parser) more() *More {
	if p.item.More == nil {
		p.item.More = new(More)
	}
	return p.item.More
}

func orNew[T any](p **T) *T {
	if *p == nil {
		*p = new(T)
	}
	return *p
}
