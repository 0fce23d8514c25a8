package authorui

import (
	"html/template"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"cloudburst/feed"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/shell"
)

// postWriter converts the items of one page to posts, within the limits of a page.
type postWriter struct {
	clean           *sanitize.Sanitizer
	base            string
	page            *authorPage
	remainingNested int // number of further nested posts that the page may have
	ids             map[string]int
}

func (w *postWriter) post(i *feed.Item, depth int) entry {
	p := entry{ID: postID(i.ID), Title: wordsOf(i.Title, 300), At: moment0(i)}
	if n := w.ids[p.ID]; n > 0 { // another item of the page has the same ID
		p.ID += "-" + strconv.Itoa(n)
	}
	w.ids[postID(i.ID)]++
	switch {
	case shell.IsWebURL(i.Link):
		p.Href = i.Link
	case i.PermaLink && shell.IsWebURL(i.ID):
		p.Href = i.ID
	}
	by := i.Byline()
	for _, person := range by[:min(len(by), 5)] {
		if person.Name != "" {
			p.Authors = append(p.Authors, shell.CleanText(person.Name, 100))
		}
	}
	for _, c := range i.Categories[:min(len(i.Categories), 20)] {
		name := c.Label
		if name == "" {
			name = c.Term
		}
		if name = strings.TrimSpace(shell.CleanText(name, 60)); name != "" {
			p.Tags = append(p.Tags, name)
		}
	}
	w.body(&p, i)
	for _, e := range i.Enclosures[:min(len(i.Enclosures), 20)] {
		if shell.IsWebURL(e.URL) {
			p.Files = append(p.Files, fileOf(e, w.base))
		}
	}
	w.page.size += 500 + len(p.HTML) + len(strings.Join(p.Words, ""))
	for n := range i.Items {
		if depth == MaxPostDepth || w.remainingNested == 0 {
			break
		}
		w.remainingNested--
		p.Inside = append(p.Inside, w.post(&i.Items[n], depth+1))
	}
	return p
}

// Dated returns the post with the time at which the page is rendered.
func (p entry) Dated(now time.Time) datedPost { return datedPost{p, now} }

// datedPost is a post with the time at which the page is rendered.
type datedPost struct {
	entry
	Now time.Time
}

// When returns the time of the post, relative to the time of the page.
func (p datedPost) When() shell.Moment {
	if p.At.IsZero() {
		return shell.Moment{Zero: true}
	}
	return shell.NewMoment(p.Now, p.At)
}

// body sets the text of a post: the first content of the item that is text, else its summary.
func (w *postWriter) body(p *entry, i *feed.Item) {
	t := i.Summary
	for _, c := range i.Content {
		if c.Value != "" && (isMarkup(c) || strings.HasPrefix(c.Type, "text/") || c.Type == "") {
			t = c
			break
		}
	}
	if !isMarkup(t) {
		p.Words, p.Cut = shell.Paragraphs(t.Value, maxPostHTML/4)
		return
	}
	if len(t.Value) <= maxPostHTML && w.page.size+len(t.Value) <= MaxPageText {
		// Safe: the sanitizer wrote this markup, and WithoutMedia adds only links to removed media.
		p.HTML = template.HTML(content.WithoutMedia(w.clean.HTML(t.Value)))
		return
	}
	words := sanitize.Text(t.Value)
	p.Words, p.Cut = []string{shell.CleanText(words, maxPostText)}, true
}

func fileOf(e feed.Enclosure, base string) content.File {
	f := content.File{Name: shell.CleanText(e.Title, 100), Href: e.URL, Type: shell.CleanText(e.Type, 80)}
	if f.Name == "" {
		if u, err := url.Parse(e.URL); err == nil {
			f.Name = shell.CleanText(path.Base(u.Path), 100)
		}
	}
	if f.Name == "" || f.Name == "." || f.Name == "/" {
		f.Name = shell.ShortURL(e.URL)
	}
	if e.Length > 0 {
		f.Size = shell.FormatBytes(e.Length)
	}
	kind, _, _ := strings.Cut(f.Type, "/")
	if strings.HasPrefix(e.URL, base+"/") && (kind == "audio" || kind == "video") {
		f.Player = kind
	}
	return f
}
