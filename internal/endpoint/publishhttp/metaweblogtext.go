package publishhttp

import (
	"slices"
	"strconv"
	"strings"

	feedformat "cloudburst/feed"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/text"
	"cloudburst/protocol/metaweblog"
)

// postText is the text of a post in the form that editors receive.
type postText struct{ body, more, filter string }

// normalize removes differences in whitespace that editors and XML cause.
func normalize(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n"))
}

// source returns a text in its editable form. Markdown is returned with the name of its text
// filter. Plain text is converted to HTML, because no filter stands for it.
func source(c *author.Content) postText {
	switch c.Format {
	case author.HTML:
		body, more := metaweblog.SplitMore(c.Source)
		return postText{body, more, metaweblog.FilterNone}
	case author.Plain:
		return postText{c.HTML, "", metaweblog.FilterNone}
	}
	body, more := metaweblog.SplitMore(c.Source)
	if more != "" { // the mark is on a line of its own, whose line breaks are not part of the text
		body, more = strings.TrimSuffix(body, "\n\n"), strings.TrimPrefix(more, "\n\n")
	}
	return postText{body, more, metaweblog.FilterMarkdown}
}

// renderedText returns a text as HTML, for editors that show posts as readers see them.
func renderedText(c *author.Content) postText {
	if c.Format == author.HTML {
		return source(c)
	}
	return postText{c.HTML, "", metaweblog.FilterNone}
}

// view returns a text in the form for this editor.
//
// spec:cloudburst#metaweblog-markdown
func (s *editorSession) view(c *author.Content) postText {
	if isVisualEditor(s.agent) {
		return renderedText(c)
	}
	return source(c)
}

// isVisualEditor reports whether the User-Agent is that of an editor that shows posts as readers
// see them and knows no filters. Such an editor would show Markdown as plain text and send it back
// as HTML.
func isVisualEditor(agent string) bool {
	agent = strings.ToLower(agent)
	for _, name := range []string{"open live writer", "openlivewriter", "windows live writer", "microsoft office", "msoffice", "microsoft word"} {
		if strings.Contains(agent, name) {
			return true
		}
	}
	return false
}

// editorPost returns a post in the form for editors.
func (s *editorSession) editorPost(p author.Post) metaweblog.Post {
	t := s.view(&p.Content)
	categories, keywords := p.SplitCategories()
	categories = append(categories, groupCategories(p.Groups)...)
	m := metaweblog.Post{
		ID: strconv.FormatInt(p.ID, 10), UserID: p.User, Created: dateOf(p), Modified: p.UpdatedAt,
		Title: p.Title, Description: t.body, More: t.more, Filter: t.filter, Excerpt: excerpt(&p.Content),
		Link: p.Link, PermaLink: s.api.Posts.Address(p), Slug: p.WantedSlug(), Status: metaweblog.StatusDraft,
		Categories: categories, Keywords: keywords, Enclosure: s.enclosure(&p.Content),
	}
	if m.Link == "" {
		m.Link = m.PermaLink
	}
	for _, label := range categories {
		m.CategoryIDs = append(m.CategoryIDs, categoryID(label))
	}
	for _, label := range keywords {
		m.KeywordIDs = append(m.KeywordIDs, author.CategoryName(label))
	}
	switch p.State {
	case author.Published:
		m.Status = metaweblog.StatusPublish
	case author.Scheduled:
		m.Status = metaweblog.StatusFuture
	case author.ForGroups:
		m.Status, m.PermaLink = metaweblog.StatusPrivate, ""
	}
	return m
}

// excerpt returns the stored summary of an item. Feeds contain it in addition to the full text.
func excerpt(c *author.Content) string {
	if c.Rest == nil {
		return ""
	}
	return c.Rest.Summary.Value
}

// enclosure returns the first enclosure of a post, because the struct has room for only one.
func (s *editorSession) enclosure(c *author.Content) *metaweblog.Enclosure {
	if len(c.Enclosures) == 0 {
		return nil
	}
	e := c.Enclosures[0]
	if strings.HasPrefix(e.URL, "/") {
		e.URL = s.api.Public() + e.URL
	}
	return &metaweblog.Enclosure{URL: e.URL, Type: e.Type, Length: e.Length}
}

// apply makes the changes in e. It ignores values that equal what the editor received, because an
// editor receives less than the post contains.
//
// spec:cloudburst#metaweblog-echo
func (s *editorSession) apply(c *author.Content, e metaweblog.Edit, was author.Post) error {
	if e.Title != nil {
		c.Title = *e.Title
	}
	if e.Link != nil && *e.Link != s.api.Posts.Address(was) {
		c.Link = *e.Link
	}
	categories, keywords := c.SplitCategories()
	switch {
	case e.Categories != nil:
		categories, c.Groups = splitGroups(e.Categories)
	case e.Status == metaweblog.StatusPublish && was.State == author.ForGroups:
		return errPrivate(c.Groups)
	}
	if e.Status == metaweblog.StatusPrivate && len(c.Groups) == 0 {
		if c.Groups = slices.Clone(was.Groups); len(c.Groups) == 0 {
			c.Groups = []string{author.DefaultGroup}
		}
	}
	if e.Keywords != nil {
		keywords = e.Keywords
	}
	// Keywords are also categories, so that a post is found by either.
	c.Categories, c.Keywords = slices.Concat(categories, keywords), keywords
	if e.Excerpt != nil && *e.Excerpt != excerpt(c) {
		if c.Rest == nil {
			c.Rest = &feedformat.Item{}
		}
		c.Rest.Summary = feedformat.Text{Value: *e.Excerpt, Type: "text/plain"}
	}
	s.applyEnclosure(c, e.Enclosure)
	return s.applyText(c, e)
}

// applyEnclosure changes the first enclosure. It keeps the fields that editors do not know, unless
// the URL changes.
func (s *editorSession) applyEnclosure(c *author.Content, e *metaweblog.Enclosure) {
	was := s.enclosure(c)
	if e == nil || was == nil && e.URL == "" || was != nil && *was == *e {
		return
	}
	path := strings.TrimPrefix(e.URL, s.api.Public())
	if !strings.HasPrefix(path, "/") {
		path = e.URL
	}
	first := author.Enclosure{URL: path, Type: e.Type, Length: e.Length}
	switch {
	case was == nil:
		c.Enclosures = []author.Enclosure{first}
	case e.URL == "":
		c.Enclosures = c.Enclosures[1:]
	case was.URL == e.URL:
		c.Enclosures[0].Type, c.Enclosures[0].Length = e.Type, e.Length
	default:
		c.Enclosures[0] = first
	}
}

// applyText changes the text, unless the edit repeats what the editor received.
func (s *editorSession) applyText(c *author.Content, e metaweblog.Edit) error {
	if e.Description == nil && e.More == nil && e.Filter == nil {
		return nil
	}
	view := s.view(c)
	now := view
	if e.Description != nil {
		now.body = *e.Description
	}
	if e.More != nil {
		now.more = *e.More
	}
	if e.Filter != nil {
		now.filter = strings.ToLower(strings.TrimSpace(*e.Filter))
	}
	format, breaks, err := s.formatOf(c, e, now)
	if err != nil || echoes(c, e, format, now.filter == view.filter) {
		return err
	}
	if breaks {
		now.body, now.more = paragraphs(now.body), paragraphs(now.more)
	}
	c.Format = format
	if format == author.Markdown && now.more != "" {
		now.body, now.more = now.body+"\n\n", "\n\n"+now.more
	}
	c.Source = metaweblog.JoinMore(now.body, now.more)
	return nil
}

// echoes reports whether an edit repeats the current text, either in its editable form or as HTML.
// Both are compared because a program that copies posts between editors does not state the form. f
// is the format of the edit.
func echoes(c *author.Content, e metaweblog.Edit, f author.Format, sameFilter bool) bool {
	if e.Description == nil && e.More == nil {
		return sameFilter
	}
	is := func(t postText) bool {
		return (e.Description == nil || normalize(*e.Description) == normalize(t.body)) && (e.More == nil || normalize(*e.More) == normalize(t.more))
	}
	if is(source(c)) && (e.Filter == nil || f == c.Format || c.Format == author.Plain) {
		return true
	}
	return f != author.Markdown && e.Description != nil && is(renderedText(c))
}

// formatOf returns the format of a text, and whether line ends in the text mean line breaks.
//
// spec:cloudburst#metaweblog-filters
func (s *editorSession) formatOf(c *author.Content, e metaweblog.Edit, now postText) (f author.Format, breaks bool, err error) {
	if e.Filter == nil {
		half := e.More == nil && now.more != "" // the edit contains only one part of the text, so the other part stays unchanged
		if c.Format == author.Markdown && !isVisualEditor(s.agent) && (half || !isHTML(now.body)) {
			return author.Markdown, false, nil
		}
		return author.HTML, false, nil
	}
	switch now.filter {
	case "", metaweblog.FilterNone, "none", "richtext", "html", "false":
		return author.HTML, false, nil
	case metaweblog.FilterBreaks, "1", "true":
		return author.HTML, true, nil
	case metaweblog.FilterMarkdown, "markdown_with_smartypants":
		return author.Markdown, false, nil
	}
	return "", false, fault.New(fault.Invalid, "There is no text filter %q (mt_convert_breaks) here; there are %q, %q and %q for HTML.",
		text.Clip(now.filter, 40), metaweblog.FilterMarkdown, metaweblog.FilterBreaks, metaweblog.FilterNone)
}

// isHTML reports whether a text begins with an element, as the texts of HTML editors do.
func isHTML(s string) bool {
	s = strings.TrimSpace(s)
	return len(s) > 2 && s[0] == '<' && (s[1]|0x20 >= 'a' && s[1]|0x20 <= 'z') && strings.HasSuffix(s, ">")
}

// blocks lists the elements that are not inside a paragraph.
var blocks = [...]string{
	"address", "article", "aside", "blockquote", "dd", "div", "dl", "dt", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr",
	"iframe", "li", "ol", "p", "pre", "section", "table", "tbody", "td", "th", "thead", "tr", "ul", "/", "!--",
}

// paragraphs turns text between empty lines into paragraphs, and other line ends into breaks. Block
// elements remain unchanged.
func paragraphs(s string) string {
	var all []string
	for para := range strings.SplitSeq(normalize(s), "\n\n") {
		if para = strings.Trim(para, "\n"); para == "" {
			continue
		}
		if !isBlock(para) {
			para = "<p>" + strings.ReplaceAll(para, "\n", "<br />\n") + "</p>"
		}
		all = append(all, para)
	}
	return strings.Join(all, "\n\n")
}

func isBlock(s string) bool {
	s, ok := strings.CutPrefix(strings.TrimSpace(s), "<")
	if !ok {
		return false
	}
	name := strings.ToLower(s[:min(len(s), 12)])
	for _, b := range blocks {
		if rest, ok := strings.CutPrefix(name, b); ok && (b == "/" || b == "!--" || rest == "" || strings.ContainsRune(" \t\n/>", rune(rest[0]))) {
			return true
		}
	}
	return false
}
