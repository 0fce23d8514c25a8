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

// renderedItem is the HTML of an item before and after its relative time, which changes every
// minute.
type renderedItem struct{ before, after string }

// size returns the approximate memory size of an item and of its key in bytes.
func (i renderedItem) size() int { return 1500 + len(i.before) + len(i.after) }

// writeItem sets the HTML of an item, from the cache if possible. An item that changes gets a
// new key.
func (s *riverPages) writeItem(p *riverPost, how showing) error {
	post := *p
	post.When, post.Edited, post.Taken = shell.Moment{}, p.Edited.In(how.lang), p.Taken.In(how.lang)
	post.Folds, post.FoldEnd, post.HTML = nil, nil, ""
	key := itemKey{post, locale.Of(how.lang).Code}
	item, found := s.items.Get(key)
	if !found {
		var before, after strings.Builder
		if err := errors.Join(s.ExecutePartIn(how.lang, &before, "river", "itemstart", post), s.ExecutePartIn(how.lang, &after, "river", "itemend", post)); err != nil {
			return err
		}
		item = renderedItem{before.String(), after.String()}
		if len(how.found) == 0 { // the content with marked words belongs to one request
			s.items.Put(key, item, item.size())
		}
	}
	p.HTML = template.HTML(item.before + string(p.When.HTML(how.lang)) + item.after)
	return nil
}
