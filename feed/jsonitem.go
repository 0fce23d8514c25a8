package feed

import (
	"slices"
	"strconv"
	"strings"

	"cloudburst/internal/href"
)

// items reads the value of "items" at the current position.
func (r *jsonReader) items() {
	if r.root == nil { // by default, the base is the URL that the feed declares as its own
		r.root = href.New(r.f.Self)
	}
	feedAuthor := r.author
	defer func() { r.into, r.author = &r.f.Unknown, feedAuthor }()
	r.lang = r.f.Language
	v := r.s.value()
	if v.kind != jsonArray && v.kind != jsonObject {
		r.report(ProblemValue, v.at, "The value of items is not a list.")
		return
	}
	if v.kind == jsonObject {
		r.report(ProblemValue, v.at, "An object is used where the list of items is expected; it is read as the only item.")
		r.oneItem(v)
		return
	}
	for r.s.element() {
		if !r.oneItem(r.s.value()) {
			r.stopped = true
			return
		}
	}
}

// oneItem reads an item and calls Options.Item. It returns false if parsing must stop.
func (r *jsonReader) oneItem(v jsonValue) bool {
	if v.kind != jsonObject {
		r.report(ProblemValue, v.at, "An item is not an object; it is skipped.")
		r.s.pass(v)
		return true
	}
	if len(r.f.Items) >= r.o.Limits.Items {
		r.report(ProblemLimit, v.at, "There are more than "+strconv.Itoa(r.o.Limits.Items)+" items; the rest is not read.")
		return false
	}
	if n := len(r.f.Items); n == cap(r.f.Items) { // the capacity is used up: reserve capacity for the estimated number of items
		more := 4
		if n > 0 {
			each := max((v.at-r.list)/n, 32)
			more = (len(r.s.doc)-v.at)/each*9/8 + 4
		}
		r.f.Items = slices.Grow(r.f.Items, max(min(more, r.o.Limits.Items-n), 1))
	}
	r.f.Items = append(r.f.Items, Item{})
	it := &r.f.Items[len(r.f.Items)-1]
	if !r.readItem(it, v) {
		r.report(ProblemValue, v.at, "An item is empty; it is skipped.")
		r.f.Items = r.f.Items[:len(r.f.Items)-1]
		return true
	}
	return r.o.Item == nil || r.o.Item(it)
}

// jsonBody contains members of an item that can only be processed at the end of the item.
type jsonBody struct {
	html, text string
	lang       string
}

// readItem reads the members of the current item. any reports whether the item has a known
// member.
func (r *jsonReader) readItem(it *Item, v jsonValue) (any bool) {
	var seen jsonNames
	var b jsonBody
	r.into, r.author = &it.Unknown, nil
	for {
		key, ok := r.s.key()
		if !ok {
			break
		}
		any = true
		r.itemMember(it, &b, r.name(key, itemNames, &seen), key)
	}
	if any {
		r.complete(it, &b, v)
	}
	return any
}

func (r *jsonReader) itemMember(it *Item, b *jsonBody, n jsonName, key string) {
	switch n {
	case nameID:
		it.ID = r.id()
	case nameURL:
		it.Link = r.url(r.address())
	case nameTitle:
		it.Title = r.plainText()
	case nameContentHTML:
		b.html = r.words()
	case nameContentText:
		b.text = r.words()
	case nameSummary:
		it.Summary = r.plainText()
	case nameDatePublished:
		it.Published = r.date()
	case nameDateModified:
		it.Updated = r.date()
	case nameAuthor:
		r.author = r.persons(key)
	case nameAuthors:
		it.Authors = r.persons(key)
	case nameTags:
		it.Categories = r.tags(key)
	case nameAttachments:
		it.Enclosures = r.attachments(key)
	case nameExternalURL:
		if u := r.address(); u != "" {
			jsonMore(it).ExternalLink = r.url(u)
		}
	case nameImage:
		if u := r.address(); u != "" {
			jsonMore(it).Image = &Image{URL: r.url(u)}
		}
	case nameBannerImage:
		if u := r.address(); u != "" {
			jsonMore(it).BannerImage = r.url(u)
		}
	case nameLanguage:
		if b.lang = dashed(r.text()); b.lang != "" {
			jsonMore(it).Language = b.lang
		}
	default:
		it.Unknown = r.tree(key, r.s.value(), it.Unknown)
	}
}

func jsonMore(it *Item) *More {
	if it.More == nil {
		it.More = &More{}
	}
	return it.More
}

// id reads the id of an item. It also accepts a number and keeps its spelling.
// spec:jsonfeed11-2020#item-id
func (r *jsonReader) id() string {
	v := r.s.value()
	switch v.kind {
	case jsonString:
		return strings.TrimSpace(v.text)
	case jsonNumber:
		r.report(ProblemValue, v.at, "The id is a number; it is read as text.")
		return v.text
	}
	return strings.TrimSpace(r.other(v, "an id"))
}

// complete processes an item after all its members are read.
func (r *jsonReader) complete(it *Item, b *jsonBody, v jsonValue) {
	if it.ID == "" {
		r.report(ProblemMissing, v.at, "An item has no id.")
	}
	if it.Link == "" && isWeb(it.ID) && (it.More == nil || it.More.ExternalLink == "") {
		it.Link = it.ID // spec:jsonfeed11-2020#item-id
	}
	if it.Link != "" {
		it.Links = r.links.add(nil, Link{Rel: "alternate", Href: it.Link})
		it.PermaLink = it.ID == it.Link
	}
	it.Authors = mergeAuthors(it.Authors, r.author)
	lang := b.lang
	if lang == "" {
		lang = r.lang
	}
	r.setText(&it.Title, lang)
	r.setText(&it.Summary, lang)
	if b.html != "" {
		t := Text{Value: b.html, Type: htmlText}
		r.setText(&t, lang)
		page := pageOf(r.parser, it)
		if page == nil {
			page = r.base()
		}
		if r.markup(&t, page) && r.budget.take(len(page.String())) {
			t.Base = page.String()
		}
		it.Content = r.texts.add(it.Content, t)
	}
	if b.text != "" {
		t := Text{Value: b.text, Type: plainText}
		r.setText(&t, lang)
		it.Content = r.texts.add(it.Content, t)
	}
	if it.Content == nil && !r.s.ended {
		r.report(ProblemMissing, v.at, "An item has neither content_html nor content_text.")
	}
	r.identify(it)
}

// persons reads a list of authors, or the single author of version 1.0.
func (r *jsonReader) persons(key string) []Person {
	var out []Person
	v := r.s.value()
	one := func(v jsonValue) {
		if p, ok := r.person(key, len(out), v); ok {
			out = r.people.add(out, p)
		}
	}
	switch {
	case key != "author":
		r.each(v, one)
	case v.kind == jsonArray:
		r.report(ProblemValue, v.at, "A list is used where one author is expected; use authors for a list.")
		r.each(v, one)
	default:
		one(v)
	}
	return out
}

func jsonPerson(s string) Person {
	if isWeb(s) {
		return Person{URL: s}
	}
	return splitPerson(s)
}

func (r *jsonReader) person(list string, index int, v jsonValue) (p Person, ok bool) {
	if v.kind == jsonString {
		r.report(ProblemValue, v.at, "An author is a text where an object is expected; it is read as the name or URL.")
		p = jsonPerson(strings.TrimSpace(v.text))
		return p, p != Person{}
	}
	if v.kind != jsonObject {
		p = jsonPerson(strings.TrimSpace(r.other(v, "an author")))
		return p, p != Person{}
	}
	r.part(list, index, personNames, func(name jsonName) bool {
		switch name {
		case nameName:
			p.Name = r.text()
		case nameURL:
			p.URL = r.url(r.address())
		case nameAvatar:
			p.Avatar = r.url(r.address())
		case nameEmail:
			p.Email = r.text()
		default:
			return false
		}
		return true
	})
	if mail, ok := strings.CutPrefix(p.URL, "mailto:"); ok && p.Email == "" {
		p.Email, _, _ = strings.Cut(mail, "?")
	}
	if p == (Person{}) {
		r.report(ProblemMissing, v.at, "An author has neither name nor url nor avatar.")
	}
	return p, p != Person{}
}

// tags reads the tags of an item. A single text with commas is read as a list of tags.
func (r *jsonReader) tags(key string) []Category {
	var out []Category
	v := r.s.value()
	if v.kind == jsonString {
		r.report(ProblemValue, v.at, "The tags are one text where a list is expected; it is split at commas.")
		for t := range strings.SplitSeq(v.text, ",") {
			if t = strings.TrimSpace(t); t != "" {
				out = r.subjects.add(out, Category{Term: t})
			}
		}
		return out
	}
	r.each(v, func(v jsonValue) {
		var c Category
		switch v.kind {
		case jsonString:
			c.Term = strings.TrimSpace(v.text)
		case jsonNumber, jsonBool:
			r.report(ProblemValue, v.at, "A tag is "+v.kind.String()+"; it is read as text.")
			c.Term = v.text
		case jsonObject:
			r.report(ProblemValue, v.at, "A tag is an object where a text is expected.")
			c = r.tag(key, len(out))
		default:
			c.Term = strings.TrimSpace(r.other(v, "a tag"))
		}
		if c.Term != "" {
			out = r.subjects.add(out, c)
		}
	})
	return out
}

// tag reads a tag that is an object. Such an object has the members that categories have in other
// formats.
func (r *jsonReader) tag(list string, index int) (c Category) {
	var other string
	r.part(list, index, tagNames, func(name jsonName) bool {
		switch name {
		case nameTerm:
			c.Term = r.text()
		case nameName, nameTitle:
			other = r.text()
		case nameLabel:
			c.Label = r.text()
		case nameScheme:
			c.Scheme = r.text()
		default:
			return false
		}
		return true
	})
	if c.Term == "" {
		c.Term = other
	}
	if c.Term == "" {
		c.Term = c.Label
	}
	return c
}

// attachments reads the files of an item.
func (r *jsonReader) attachments(key string) []Enclosure {
	var out []Enclosure
	r.each(r.s.value(), func(v jsonValue) {
		var e Enclosure
		switch v.kind {
		case jsonObject:
			e = r.attachment(key, len(out))
		case jsonString:
			r.report(ProblemValue, v.at, "An attachment is a text where an object is expected; it is read as the url.")
			e.URL = r.url(strings.TrimSpace(v.text))
		default:
			e.URL = r.url(r.other(v, "an attachment"))
		}
		switch {
		case e.URL != "":
			out = r.files.add(out, e)
		case v.kind == jsonObject:
			r.report(ProblemMissing, v.at, "An attachment has no url; it is left out.")
		}
	})
	return out
}

func (r *jsonReader) attachment(list string, index int) (e Enclosure) {
	r.part(list, index, attachmentNames, func(name jsonName) bool {
		switch name {
		case nameURL:
			e.URL = r.url(r.address())
		case nameMimeType:
			e.Type = r.text()
		case nameTitle:
			e.Title = r.text()
		case nameSizeInBytes:
			e.Length = r.bytes()
		case nameDurationInSeconds:
			e.Duration = r.number("a number of seconds")
		default:
			return false
		}
		return true
	})
	return e
}

// hubs reads the hubs of a feed.
func (r *jsonReader) hubs(key string) []Hub {
	var out []Hub
	r.each(r.s.value(), func(v jsonValue) {
		var h Hub
		switch v.kind {
		case jsonObject:
			h = r.hub(key, len(out))
		case jsonString:
			r.report(ProblemValue, v.at, "A hub is a text where an object is expected; it is read as the url of a WebSub hub.")
			h = Hub{Type: "WebSub", URL: r.url(strings.TrimSpace(v.text))}
		default:
			r.other(v, "a hub")
		}
		if h.URL != "" && len(out) < maxHubs {
			out = append(out, h)
		}
	})
	return out
}

func (r *jsonReader) hub(list string, index int) (h Hub) {
	at := r.s.pos
	r.part(list, index, hubNames, func(name jsonName) bool {
		switch name {
		case nameType:
			h.Type = r.text()
		case nameURL:
			h.URL = r.url(r.address())
		default:
			return false
		}
		return true
	})
	if h.Type == "" || h.URL == "" {
		r.report(ProblemMissing, at, "A hub has no type or no url.")
	}
	return h
}
