package metaweblog

import (
	"html"
	"strings"
	"time"
)

// ParseEdit parses the struct of metaWeblog.newPost and editPost. The error is a
// [*FieldError].
//
// spec:metaweblog-2002#post-struct
func ParseEdit(v any) (Edit, error) {
	of, ok := v.(map[string]any)
	if !ok {
		return Edit{}, fieldErr("struct", "The post must be a struct of title, description and so on, not %s.", kind(v))
	}
	m := &members{of: of}
	e := Edit{
		Title: m.text("title"), Description: m.text("description"), More: m.text("mt_text_more"),
		Excerpt: m.text("mt_excerpt"), Link: m.text("link"), Slug: m.text("wp_slug", "mt_basename"), Filter: m.text("mt_convert_breaks"),
		Categories: m.list(false, "categories"), Keywords: m.list(true, "mt_keywords", "mt_tags"),
		Enclosure:     m.enclosure("enclosure"),
		AllowComments: m.allow("mt_allow_comments"), AllowPings: m.allow("mt_allow_pings"),
		Created: m.created(), Status: strings.ToLower(m.word("post_status")),
	}
	if m.err != nil {
		return Edit{}, m.err
	}
	return e, nil
}

// created returns the date of a post. A member whose date is always UTC has priority.
//
// spec:cloudburst#metaweblog-dates
func (m *members) created() time.Time {
	for _, names := range [][]string{{"date_created_gmt", "dateCreated_gmt"}, {"dateCreated"}, {"pubDate"}} {
		if t := m.time(names...); !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

// Value returns the struct for e, without Publish.
func (e Edit) Value() map[string]any {
	v := map[string]any{}
	for name, s := range map[string]*string{
		"title": e.Title, "description": e.Description, "mt_text_more": e.More, "mt_excerpt": e.Excerpt,
		"link": e.Link, "wp_slug": e.Slug, "mt_convert_breaks": e.Filter,
	} {
		if s != nil {
			v[name] = *s
		}
	}
	for name, n := range map[string]*int{"mt_allow_comments": e.AllowComments, "mt_allow_pings": e.AllowPings} {
		if n != nil {
			v[name] = *n
		}
	}
	if e.Categories != nil {
		v["categories"] = e.Categories
	}
	if e.Keywords != nil {
		v["mt_keywords"] = strings.Join(e.Keywords, ", ")
	}
	if e.Enclosure != nil {
		v["enclosure"] = e.Enclosure.value()
	}
	if !e.Created.IsZero() {
		v["dateCreated"], v["date_created_gmt"] = e.Created, e.Created
	}
	if e.Status != "" {
		v["post_status"] = e.Status
	}
	return v
}

func (e Enclosure) value() map[string]any {
	v := map[string]any{"url": e.URL}
	if e.Type != "" {
		v["type"] = e.Type
	}
	if e.Length > 0 {
		v["length"] = e.Length
	}
	return v
}

// moreMark separates the text from the extended text where both are one string.
const moreMark = "<!--more-->"

// JoinMore joins a text and its extended text into one, separated by the comment
// <!--more-->. If more is empty, the result is text.
func JoinMore(text, more string) string {
	if more == "" {
		return text
	}
	return text + moreMark + more
}

// SplitMore splits a text at the first comment <!--more-->. Without the comment, it returns the
// whole text and an empty more.
func SplitMore(whole string) (text, more string) {
	text, more, _ = strings.Cut(whole, moreMark)
	return text, more
}

// BloggerContent joins a title and a text for the methods without a title: the text is
// preceded by <title>. If title is empty, the result is text.
//
// spec:cloudburst#blogger-title
func BloggerContent(title, text string) string {
	if title == "" && !startsAsTitle(text) {
		return text
	}
	return "<title>" + html.EscapeString(title) + "</title>" + text
}

// ParseBloggerContent splits a text into title and text. title is nil if there is none. A
// <category> after the title is removed.
func ParseBloggerContent(content string) (title *string, text string) {
	if !startsAsTitle(content) {
		return nil, content
	}
	inner, rest, ok := cutTag(content, "title")
	if !ok {
		return nil, content
	}
	if _, behind, ok := cutTag(rest, "category"); ok {
		rest = behind
	}
	return new(line(html.UnescapeString(inner))), rest
}

func startsAsTitle(s string) bool {
	const tag = "<title>"
	s = strings.TrimLeft(s, " \t\r\n")
	return len(s) >= len(tag) && strings.EqualFold(s[:len(tag)], tag)
}

// cutTag splits off the element with this name at the start of a text.
func cutTag(s, name string) (inner, rest string, ok bool) {
	trimmed := strings.TrimLeft(s, " \t\r\n")
	open, end := "<"+name+">", "</"+name+">"
	if len(trimmed) < len(open) || !strings.EqualFold(trimmed[:len(open)], open) {
		return "", s, false
	}
	trimmed = trimmed[len(open):]
	for i := 0; i+len(end) <= len(trimmed); i++ {
		if trimmed[i] == '<' && strings.EqualFold(trimmed[i:i+len(end)], end) {
			return trimmed[:i], trimmed[i+len(end):], true
		}
	}
	return "", s, false
}
