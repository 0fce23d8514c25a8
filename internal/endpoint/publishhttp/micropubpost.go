package publishhttp

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/date"
	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/text"
	"cloudburst/protocol/micropub"
)

// publication is the requested state and date of a post.
type publication struct {
	to author.State // requested state; "": unchanged
	at time.Time    // requested date; zero: unchanged

	addressed bool     // the request names groups
	groups    []string // slugs of these groups; empty: the post is public
}

// audienceOf reads the properties visibility and audience. audience contains the slugs of groups. A
// private post without an audience is for the default group. If a request removes the audience of a
// private post, the post stays private.
//
// spec:cloudburst#micropub-visibility
func (w *publication) audienceOf(p micropub.Properties, touches func(string) bool) error {
	if !touches("visibility") && !touches("audience") {
		return nil
	}
	w.addressed, w.groups = true, p.Texts("audience")
	switch visible := p.Text("visibility"); {
	case visible == "private" && len(w.groups) == 0:
		w.groups = []string{author.DefaultGroup}
	case visible == "" || visible == "private":
	case visible != "public":
		return fault.New(fault.Invalid, "The visibility is %q: it must be public or private; nothing was published.", text.Clip(visible, 40))
	case touches("visibility") && touches("audience") && len(w.groups) > 0:
		return fault.New(fault.Invalid, "The post is public and has an audience: send the visibility private, or no audience. Nothing was published.")
	case touches("visibility"):
		w.groups = nil
	}
	return nil
}

// fill sets the groups of a post, if the request names groups.
func (w *publication) fill(c *author.Content) {
	if w.addressed {
		c.Groups = w.groups
	}
}

// publicationOf reads the state and date from the properties that the request touches.
func publicationOf(p micropub.Properties, touches func(string) bool) (w publication, err error) {
	status, at := p.Text("post-status"), p.Text("published")
	if err := checkSingle(p, touches); err != nil {
		return w, err
	}
	if err := w.audienceOf(p, touches); err != nil {
		return w, err
	}
	if touches("post-status") {
		switch status {
		case "", "published":
			w.to = author.Published
		case "draft":
			w.to = author.Draft
		default:
			return w, fault.New(fault.Invalid, "The post-status is %q: it must be published or draft.", text.Clip(status, 40))
		}
	}
	if touches("published") && at != "" {
		var ok bool
		if w.at, ok = date.Parse(at); !ok {
			return w, fault.New(fault.Invalid, "published is %q, which is not a date: write it as 2026-01-31T12:00:00Z.", text.Clip(at, 60))
		}
	}
	return w, nil
}

// checkSingle returns an error if a property has several values but a post has only one.
//
// spec:cloudburst#micropub-single
func checkSingle(p micropub.Properties, touches func(string) bool) error {
	for _, name := range append(linkProperties(), "name", "content", "in-reply-to", "published", "post-status", "visibility", "mp-slug") {
		if other := func(v micropub.Value) bool { return !v.Equal(p.First(name)) }; touches(name) && slices.ContainsFunc(p[name], other) {
			return fault.New(fault.Invalid, "%s has %d values, but a post has only one: replace the value. Nothing was saved.", name, len(p[name]))
		}
	}
	link := ""
	for _, name := range linkProperties() {
		at := p.Text(name)
		if link = cmp.Or(link, at); at != "" && at != link {
			return fault.New(fault.Invalid, "%s is another URL than %s, but a post has only one link. Nothing was saved.", name, text.Clip(link, 200))
		}
	}
	return nil
}

// linkProperties lists the properties that name the page that a post is about.
func linkProperties() []string { return []string{"bookmark-of", "like-of", "repost-of"} }

// nameLink gives the link of a post, which is stored without its property, the name that an update
// uses for it.
func nameLink(p micropub.Properties, r *micropub.Request) {
	for _, name := range linkProperties() {
		if link := p["bookmark-of"]; r.Touches(name) && len(link) > 0 {
			delete(p, "bookmark-of")
			p[name] = link
			return
		}
	}
}

// fillNew fills the content of a new post. Properties for which Content has no field are stored
// unchanged.
//
// spec:micropub-2017#unrecognized
func fillNew(c *author.Content, p micropub.Properties) {
	given := p.Has("content") // otherwise the summary is used as the text
	if !given && p.Has("summary") {
		with := micropub.Properties{"content": p["summary"]}
		maps.Copy(with, p)
		p = with
	}
	fillTouched(c, p, func(name string) bool { return name != "summary" || given })
	for _, name := range linkProperties() {
		// Without a title, use the title of the linked page.
		if o := p.First(name).Object; o != nil && c.Title == "" && p.First("content").String() == "" {
			c.Title = o.Properties.Text("name")
		}
	}
}

// fillTouched changes those properties of a content that the request touches.
func fillTouched(c *author.Content, p micropub.Properties, touches func(string) bool) {
	if touches("name") {
		c.Title = p.Text("name")
	}
	if touches("content") {
		fillSource(c, p.First("content"))
	}
	if touches("category") {
		c.Categories = p.Texts("category")
	}
	if touches("in-reply-to") {
		fillReply(c, p.First("in-reply-to"))
	}
	fillOthers(c, p, touches)
	linked := false
	for _, name := range linkProperties() {
		linked = linked || touches(name)
	}
	if linked {
		c.Link = ""
		for _, name := range linkProperties() {
			if c.Link == "" {
				c.Link = p.Text(name)
			}
		}
	}
}

// hasField reports whether a property has a field of Content, or does not belong to the content at
// all.
func hasField(name string) bool {
	switch name {
	case "url", "name", "content", "category", "in-reply-to", "bookmark-of", "like-of", "repost-of",
		"photo", "video", "audio", "published", "updated", "post-status", "visibility", "audience":
		return true
	}
	return strings.HasPrefix(name, "mp-")
}

// fillOthers stores the properties for which Content has no field.
func fillOthers(c *author.Content, p micropub.Properties, touches func(string) bool) {
	for name := range c.Properties {
		if touches(name) {
			delete(c.Properties, name)
		}
	}
	for name, values := range p {
		if hasField(name) || !touches(name) || len(values) == 0 {
			continue
		}
		raw, err := json.Marshal(values)
		if err != nil { // invalid JSON, which a decoded request cannot contain
			continue
		}
		if c.Properties == nil {
			c.Properties = map[string]json.RawMessage{}
		}
		c.Properties[name] = raw
	}
}

// fillSource sets the text. A string is plain text without markup. If it replaces Markdown it is
// Markdown, because the program received the Markdown source as a string.
//
// spec:micropub-2017#plain-text
// spec:cloudburst#micropub-markdown
func fillSource(c *author.Content, v micropub.Value) {
	switch {
	case v.HTML != "":
		c.Source, c.Format = v.HTML, author.HTML
	case v.Markdown != "":
		c.Source, c.Format = v.Markdown, author.Markdown
	default:
		if c.Source == "" || c.Format != author.Markdown {
			c.Format = author.Plain
		}
		c.Source = v.String()
	}
}

func fillReply(c *author.Content, v micropub.Value) {
	at := v.String()
	switch {
	case at == "":
		c.Reply = nil
	case c.Reply == nil || c.Reply.URL != at:
		c.Reply = &author.Reply{URL: at}
		if v.Object != nil {
			c.Reply.Title = v.Object.Properties.Text("name")
		}
	}
}

// mediaKinds lists the properties that contain files, each with its default media type.
func mediaKinds() []struct{ name, kind string } {
	return []struct{ name, kind string }{{"photo", "image/jpeg"}, {"video", "video/mp4"}, {"audio", "audio/mpeg"}}
}

// describeTimeout is the maximum time that saving a post waits for the details of its files.
const describeTimeout = 10 * time.Second

// enclosures returns the files of a post. It keeps the known details of files that the post already
// had, and files that belong to no property.
func (s *micropubSite) enclosures(ctx context.Context, p micropub.Properties, old []author.Enclosure) []author.Enclosure {
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	var list []author.Enclosure
	seen := map[string]bool{}
	for _, kind := range mediaKinds() {
		for _, v := range p[kind.name] {
			at := s.m.local(v.String())
			if at == "" || seen[at] {
				continue
			}
			seen[at] = true
			e := s.enclosure(ctx, at, kind.kind, old)
			e.Alt = v.Alt // spec:micropub-2017#alt
			list = append(list, e)
		}
	}
	for _, e := range old {
		if propertyOf(e) == "" && !seen[e.URL] {
			list = append(list, e)
		}
	}
	return list
}

// enclosure describes the file at a URL. If the media type is unknown, it follows from the file
// name, or else from the property.
func (s *micropubSite) enclosure(ctx context.Context, at, kind string, old []author.Enclosure) author.Enclosure {
	for _, e := range old {
		if e.URL == at {
			return e
		}
	}
	e := author.Enclosure{URL: at}
	if s.m.Describe != nil {
		// A file that cannot be described is still part of the post.
		if known, err := s.m.Describe(ctx, at); err == nil {
			e = known
			e.URL = at
		}
	}
	if e.Type == "" || e.Type == "application/octet-stream" {
		e.Type = cmp.Or(href.MediaType(at), kind)
	}
	return e
}

// local returns the path of a URL of this server, and other URLs unchanged.
func (m *Micropub) local(at string) string {
	at = strings.TrimSpace(at)
	if u, own := m.Path(at); own {
		return u.RequestURI()
	}
	return at
}

// propertyOf returns the property that contains a file, or "" if there is none.
func propertyOf(e author.Enclosure) string {
	class, _, _ := strings.Cut(e.Type, "/")
	switch class {
	case "image":
		return "photo"
	case "video", "audio":
		return class
	}
	return ""
}

// properties returns the source of a post as Micropub properties.
func (s *micropubSite) properties(p author.Post) micropub.Properties {
	out := micropub.Properties{"url": {micropub.Text(s.address(p))}}
	set := func(name string, values ...string) {
		for _, v := range values {
			if v != "" {
				out[name] = append(out[name], micropub.Text(v))
			}
		}
	}
	set("name", p.Title)
	if p.Format == author.HTML && p.Source != "" {
		out["content"] = []micropub.Value{micropub.HTML(p.Source)}
	} else {
		set("content", p.Source)
	}
	set("category", p.Categories...)
	set("bookmark-of", p.Link)
	if p.Reply != nil {
		set("in-reply-to", cmp.Or(p.Reply.URL, p.Reply.GUID))
	}
	for _, e := range p.Enclosures {
		at := e.URL
		if strings.HasPrefix(at, "/") {
			at = s.m.Public() + at
		}
		if name := propertyOf(e); name != "" {
			out[name] = append(out[name], micropub.Value{Text: at, Alt: e.Alt})
		}
	}
	for name, raw := range p.Properties {
		var values []micropub.Value
		if json.Unmarshal(raw, &values) == nil && out[name] == nil {
			out[name] = values
		}
	}
	at, status := p.PublishedAt, string(p.State)
	switch p.State {
	case author.Scheduled:
		at, status = p.DueAt, "published"
	case author.ForGroups:
		status = "published"
	}
	if len(p.Groups) > 0 {
		set("visibility", "private")
		set("audience", p.Groups...)
	}
	if !at.IsZero() {
		set("published", at.UTC().Format(time.RFC3339))
	}
	if !p.UpdatedAt.IsZero() {
		set("updated", p.UpdatedAt.UTC().Format(time.RFC3339))
	}
	set("post-status", status)
	set("mp-slug", p.WantedSlug())
	return out
}
