package readerui

import (
	"errors"
	"html/template"
	"strings"

	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

// contentKey identifies a rendered content. An edited item has a new Seq.
type contentKey struct {
	id, seq int64
	full    int64 // time at which the full text was read, in Unix milliseconds
	whole   bool
	lang    string // code of the language of its fixed words
}

// size returns the approximate memory size of a content in bytes.
func (c *itemContent) size() int {
	n := 400
	for _, address := range c.unsized {
		n += 16 + len(address)
	}
	return n + len(c.Title) + len(c.Href) + len(c.Headline) + len(c.Shown) + len(c.Below) + len(c.Facts) + len(c.More)
}

// itemKey identifies a rendered item. It contains everything that the templates of an item read,
// except its relative time.
type itemKey struct {
	post riverPost
	lang string
}

// slot is the place of a part of the content in a rendered item. Templates escape this byte.
const slot = "\x00"

// renderedItem is the HTML of an item around the parts of its content, which can have marked words,
// and before and after its relative time, which changes every minute.
type renderedItem struct {
	before []string // the pieces between the parts of the content
	after  string
}

// size returns the approximate memory size of an item and of its key in bytes.
func (i renderedItem) size() int {
	n := 1500 + len(i.after)
	for _, piece := range i.before {
		n += 16 + len(piece)
	}
	return n
}

// writeItem sets the HTML of an item, from the cache if possible. An item that changes gets a
// new key.
func (s *riverPages) writeItem(p *riverPost, how showing) error {
	post := *p
	post.When, post.Edited, post.Taken = shell.Moment{}, p.Edited.In(how.lang), p.Taken.In(how.lang)
	post.Folds, post.FoldEnd, post.HTML = nil, nil, ""
	key := itemKey{post, locale.Of(how.lang).Code}
	item, found := s.items.Get(key)
	if !found {
		empty := *p.itemContent
		empty.Headline, empty.Shown, empty.Below = slot, slot, slot
		post.itemContent = &empty
		var before, after strings.Builder
		if err := errors.Join(s.ExecutePartIn(how.lang, &before, "river", "itemstart", post), s.ExecutePartIn(how.lang, &after, "river", "itemend", post)); err != nil {
			return err
		}
		item = renderedItem{strings.Split(before.String(), slot), after.String()}
		s.items.Put(key, item, item.size())
	}
	parts := []template.HTML{p.Headline, p.Shown, p.Below}
	if p.Title == "" { // the template then shows no headline
		parts = parts[1:]
	}
	var out strings.Builder
	out.Grow(len(p.Headline) + len(p.Shown) + len(p.Below) + item.size())
	for i, piece := range item.before {
		out.WriteString(piece)
		if i < len(parts) {
			out.WriteString(string(highlight(parts[i], how.found)))
		}
	}
	out.WriteString(string(p.When.HTML(how.lang)))
	out.WriteString(item.after)
	p.HTML = template.HTML(out.String())
	return nil
}
