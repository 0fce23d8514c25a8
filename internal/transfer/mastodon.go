package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/sanitize"
)

// mastodon is the archive that a Mastodon server exports: outbox.json with ActivityStreams, and
// media_attachments.
type mastodon struct {
	a      *foreignArchive
	dir    string // folder of outbox.json, "" or with a slash at the end
	outbox string
	actor  mastodonActor
}

type mastodonActor struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Summary string `json:"summary"`
	URL     string `json:"url"`
}

// publicAddress is the recipient of public posts.
const publicAddress = "https://www.w3.org/ns/activitystreams#Public"

// mastodonActivity is an element of the outbox.
type mastodonActivity struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Actor     string          `json:"actor"`
	Published string          `json:"published"`
	To        stringList      `json:"to"`
	Cc        stringList      `json:"cc"`
	Object    json.RawMessage `json:"object"`
}

type mastodonNote struct {
	ID         string            `json:"id"`
	URL        string            `json:"url"`
	Type       string            `json:"type"`
	Summary    string            `json:"summary"`
	InReplyTo  string            `json:"inReplyTo"`
	Published  string            `json:"published"`
	Updated    string            `json:"updated"`
	Content    string            `json:"content"`
	ContentMap map[string]string `json:"contentMap"`
	Attachment []struct {
		URL  string `json:"url"`
		Name string `json:"name"`
	} `json:"attachment"`
	Tag []struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tag"`
	OneOf []struct {
		Name string `json:"name"`
	} `json:"oneOf"`
	AnyOf []struct {
		Name string `json:"name"`
	} `json:"anyOf"`
}

// stringList is a JSON string or a list of strings.
type stringList []string

// UnmarshalJSON implements json.Unmarshaler. A value of another type becomes an empty list.
func (l *stringList) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil && one != "" {
		*l = stringList{one}
		return nil
	}
	var all []json.RawMessage
	if json.Unmarshal(b, &all) != nil {
		return nil
	}
	for _, raw := range all {
		if json.Unmarshal(raw, &one) == nil {
			*l = append(*l, one)
		}
	}
	return nil
}

func openMastodon(a *foreignArchive) source {
	outbox := a.atTop("outbox.json")
	if outbox == "" {
		return nil
	}
	m := &mastodon{a: a, outbox: outbox, dir: strings.TrimSuffix(outbox, "outbox.json")}
	if a.has(m.dir + "actor.json") {
		if b, err := a.text(m.dir+"actor.json", 1<<20); err == nil {
			_ = json.Unmarshal(b, &m.actor) // without actor.json, replies to own posts count as replies to other people
		}
	}
	return m
}

func (m *mastodon) kind() string { return "mastodon" }

func (m *mastodon) profile() author.Profile {
	return author.Profile{Name: clip(m.actor.Name, 100), Blurb: clip(oneLine(sanitize.Text(m.actor.Summary)), 300), Link: webURL(m.actor.URL)}
}

func (m *mastodon) posts(ctx context.Context, each func(*foreignPost) error) error {
	return eachJSON(ctx, m.a, m.outbox, "orderedItems", func(_ int, v *mastodonActivity, bad error) error {
		p := &foreignPost{Omit: omitInvalid}
		if bad == nil {
			p = m.post(v)
		}
		return each(p)
	})
}

func (m *mastodon) post(v *mastodonActivity) *foreignPost {
	p := &foreignPost{}
	if v.Type == "Announce" {
		return m.boost(v)
	}
	var n mastodonNote
	if v.Type != "Create" || json.Unmarshal(v.Object, &n) != nil || n.ID == "" {
		return &foreignPost{Omit: omitInvalid}
	}
	p.ID = path.Base(n.ID)
	old := cmp.Or(webURL(n.URL), webURL(n.ID))
	p.identify(m.kind(), n.ID, old)
	p.Slug = p.ID
	if n.InReplyTo != "" {
		p.From = replyToPost
		p.Reply = &author.Reply{URL: n.InReplyTo}
		if m.own(n.InReplyTo) {
			p.From, p.Parent, p.Reply = ownPost, path.Base(n.InReplyTo), nil
		}
	}
	if !slices.Contains(v.To, publicAddress) && !slices.Contains(v.Cc, publicAddress) {
		p.Omit = omitPrivate
		return p
	}
	p.date(n.Published, n.Updated)
	p.Title, p.Format = clip(oneLine(n.Summary), 290), author.HTML
	p.Source = n.Content + mastodonPoll(&n)
	if len(n.ContentMap) == 1 {
		for p.Language = range n.ContentMap {
		}
	}
	for _, tag := range n.Tag {
		if tag.Type == "Hashtag" {
			p.label(strings.TrimPrefix(tag.Name, "#"))
		}
	}
	for _, f := range n.Attachment {
		if entry := m.media(f.URL); entry != "" {
			p.Files = append(p.Files, foreignFile{Entry: entry, Alt: f.Name})
		} else if at := webURL(f.URL); at != "" {
			p.Enclosures = append(p.Enclosures, author.Enclosure{URL: at, Type: typeOf(at), Alt: clip(f.Name, 1500)})
		}
	}
	return p
}

func (m *mastodon) boost(v *mastodonActivity) *foreignPost {
	p := &foreignPost{From: boostedPost}
	var at string
	if json.Unmarshal(v.Object, &at) != nil {
		var n mastodonNote
		_ = json.Unmarshal(v.Object, &n) // after an error, the URL stays empty
		at = n.ID
	}
	if at = webURL(at); at == "" || v.ID == "" {
		p.Omit = omitInvalid
		return p
	}
	p.identify(m.kind(), v.ID, "")
	p.date(v.Published, "")
	p.boost(at)
	return p
}

// own reports whether at is the URL of a post of the same author.
func (m *mastodon) own(at string) bool {
	return m.actor.ID != "" && strings.HasPrefix(at, m.actor.ID+"/") || m.actor.URL != "" && strings.HasPrefix(at, m.actor.URL+"/")
}

// media returns the name of an attachment in the archive, "" if there is none.
func (m *mastodon) media(ref string) string {
	u, err := url.Parse(ref)
	if err != nil {
		return ""
	}
	name := m.dir + strings.TrimPrefix(u.Path, "/")
	if m.a.has(name) {
		return name
	}
	if _, tail, ok := strings.Cut(u.Path, "media_attachments/"); ok && m.a.has(m.dir+"media_attachments/"+tail) {
		return m.dir + "media_attachments/" + tail
	}
	return ""
}

func mastodonPoll(n *mastodonNote) string {
	var b strings.Builder
	for _, choice := range append(n.OneOf, n.AnyOf...) {
		fmt.Fprintf(&b, "<li>%s</li>", html.EscapeString(choice.Name))
	}
	if b.Len() == 0 {
		return ""
	}
	return "<ul>" + b.String() + "</ul>"
}

// identify sets the key of a post and, if old is not empty, its GUID. old is the URL of the post at
// the other program.
func (p *foreignPost) identify(kind, id, old string) {
	p.State, p.Key = author.Published, stableKey(kind, id)
	if old != "" {
		p.GUID = old
		p.Old = append(p.Old, old)
	}
}

// draft makes the post a draft. Drafts are identified by their key only.
func (p *foreignPost) draft() {
	p.State, p.GUID, p.Old, p.DueAt = author.Draft, "", nil, time.Time{}
}

// date sets the times of a published post. A post without a valid date becomes a draft.
func (p *foreignPost) date(published, updated string) {
	at := parseTime(published)
	if at.IsZero() {
		p.draft()
		p.Note = noteNoDate
		return
	}
	p.CreatedAt, p.PublishedAt, p.UpdatedAt = at, at, parseTime(updated)
}

// boost makes the post a link to the post of another person.
func (p *foreignPost) boost(at string) {
	p.Link, p.Format = at, author.HTML
	p.Source = fmt.Sprintf(`<p><a href="%s">%s</a></p>`, html.EscapeString(at), html.EscapeString(at))
}

// label adds a category.
func (p *foreignPost) label(s string) {
	if s = clip(oneLine(s), 90); s != "" && !slices.Contains(p.Categories, s) {
		p.Categories = append(p.Categories, s)
	}
}

// timeLayouts are the date formats in archives of other programs.
var timeLayouts = []string{
	time.RFC3339, time.RubyDate, "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 -07:00", "2006-01-02 15:04 -0700", "2006-01-02T15:04:05", "2006-01-02T15:04",
	time.DateTime, "2006-01-02 15:04", "2006-01-02 15:04:05 MST", time.DateOnly, "2006/01/02", time.RFC1123Z, time.RFC1123,
}

// parseTime parses a time to UTC; an invalid time is the zero time.
func parseTime(s string) time.Time {
	s = strings.TrimSpace(s)
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, s); err == nil && t.Year() > 1900 && t.Year() < 9999 {
			return t.UTC()
		}
	}
	return time.Time{}
}
