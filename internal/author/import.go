package author

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"cloudburst/internal/author/markup"
	"cloudburst/internal/author/rules"
	"cloudburst/internal/fault"
	"cloudburst/internal/sanitize"
)

func textOf(html string) string { return sanitize.Text(html) }

// maxRest is the maximum size of [Content].Rest of an imported post, in bytes of JSON.
const maxRest = 1 << 20

// Limits of one transaction of an import. A transaction ends as soon as it reaches one limit.
const (
	importBatch = 500      // maximum number of posts
	importBytes = 16 << 20 // maximum bytes of the posts' sources and HTML
)

// Import adds posts with their dates and GUIDs to the posts of a user. It skips posts whose GUID
// exists, so an import can be repeated; after an error, the posts that were already added stay.
// Posts without a GUID get a new GUID. Import removes invalid parts, such as an invalid link or a
// text that is too long, from a post and imports the rest. It rebuilds the feed once at the end and
// notifies subscribers once. It calls progress with the number of processed posts; nil: no calls.
func (p *Posts) Import(ctx context.Context, user string, posts []Post, progress func(done int)) (added int, err error) {
	p.importing.Add(1)
	defer p.importing.Add(-1)
	if err := p.checkEdit(ctx, Edit{User: user}); err != nil {
		return 0, err
	}
	if err := p.checkImportQuota(ctx, user, posts); err != nil {
		return 0, err
	}
	converted, err := converter{p}.convert(ctx, user)
	if err != nil {
		return 0, err
	}
	posts = chronological(posts)
	if added, err = p.add(ctx, user, posts, progress); err != nil || added == 0 && !converted {
		return added, err
	}
	w := p.writing(user, "import")
	w.Renumber = true
	for _, post := range posts {
		if post.State.HasReaders() {
			w.Groups = append(w.Groups, post.Groups...)
		}
	}
	_, err = p.write(ctx, w)
	return added, err
}

// chronological returns posts oldest first, without posts whose GUID an earlier post has. In this
// order most posts get their final place when they are added, although feeds list the newest first.
func chronological(posts []Post) []Post {
	seen := map[string]bool{}
	posts = slices.DeleteFunc(slices.Clone(posts), func(p Post) bool {
		if p.GUID == "" {
			return false
		}
		before := seen[p.GUID]
		seen[p.GUID] = true
		return before
	})
	slices.SortStableFunc(posts, func(a, b Post) int { return a.PublishedAt.Compare(b.PublishedAt) })
	return posts
}

// add adds posts without rebuilding the feed.
func (p *Posts) add(ctx context.Context, user string, posts []Post, progress func(done int)) (added int, err error) {
	for from := 0; from < len(posts); {
		batch, size := make([]Post, 0, importBatch), 0
		for from < len(posts) && len(batch) < importBatch && size < importBytes {
			post, err := p.imported(Composer{user: user, Rules: rules.Rules{PlainTags: len(posts[from].Hashtags) == 0}}, posts[from])
			if err != nil {
				return added, err
			}
			batch, size, from = append(batch, post), size+len(post.Source)+len(post.HTML), from+1
		}
		n, err := p.Store.AddPosts(ctx, user, p.now(), batch)
		added += n
		if err != nil {
			return added, err
		}
		if progress != nil {
			progress(from)
		}
	}
	return added, nil
}

// imported returns an imported post with invalid values corrected, and with the HTML that o
// renders.
func (p *Posts) imported(o Composer, post Post) (Post, error) {
	post.User, post.ID = o.user, 0
	post.Content = post.Content.Clone()
	dropInvalid(&post.Content)
	if err := o.compose(&post.Content); err != nil {
		return post, err
	}
	now := p.now()
	for _, t := range []*time.Time{&post.CreatedAt, &post.PublishedAt, &post.UpdatedAt} {
		*t = t.UTC().Truncate(time.Millisecond)
		if t.Year() < 1 || t.Year() > 9999 {
			*t = now
		}
	}
	if post.State == "" {
		post.State = Published
	}
	if !post.State.HasReaders() && post.State != Draft && post.State != Scheduled {
		return post, fault.New(fault.Invalid, "%q is not a valid state of an imported post.", clip(string(post.State)))
	}
	switch {
	case post.State == Published && len(post.Groups) > 0:
		post.State = ForGroups
	case post.State == ForGroups && len(post.Groups) == 0:
		post.Groups = []string{DefaultGroup}
	}
	if post.State.HasReaders() && post.PublishedAt.IsZero() {
		post.PublishedAt = now
	}
	if post.CreatedAt.IsZero() {
		post.CreatedAt = cmp.Or(post.PublishedAt, now)
	}
	if post.UpdatedAt.IsZero() {
		post.UpdatedAt = post.CreatedAt
	}
	if post.UpdatedAt.Before(post.PublishedAt) {
		post.UpdatedAt = post.PublishedAt
	}
	if post.State == ForGroups {
		if post.Slug = ""; post.GUID == "" {
			post.GUID = fmt.Sprintf("%s/%s/#%d", p.origin(), o.user, post.PublishedAt.UnixMilli())
		}
	}
	post.SlugWish = fold(post.SlugWish, "_", maxSlug)
	if post.State != Published {
		return post, nil
	}
	if post.Slug = fold(post.Slug, "_", maxSlug); post.Slug == "" {
		post.Slug = slugOf(&post)
	}
	if post.GUID == "" {
		post.GUID = fmt.Sprintf("%s#%d", p.origin()+p.Path(post), post.PublishedAt.UnixMilli())
	}
	return post, nil
}

// dropInvalid removes invalid parts of a content.
func dropInvalid(c *Content) {
	c.Title = clipRunes(c.Title, MaxTitle)
	if c.Format != HTML && c.Format != Plain {
		c.Format = Markdown
	}
	if len(c.Source) > MaxSource {
		c.Source = clipBytes(c.Source, MaxSource-1024)
	}
	if _, err := CheckURL("", c.Link, false); err != nil {
		c.Link = ""
	}
	if checkReply(c) != nil {
		c.Reply = nil
	}
	if !language.MatchString(c.Language) {
		c.Language = ""
	}
	if rest, err := json.Marshal(c.Rest); err != nil || len(rest) > maxRest {
		c.Rest = nil
	}
	c.Categories = validCategories(c.Categories)
	if _, err := groupNames(c.Groups); err != nil {
		c.Groups = []string{DefaultGroup} // a post whose groups are invalid must not become public
	}
	c.Enclosures = validEnclosures(c.Enclosures)
	left, count := MaxSource-len(c.Source), 0
	c.Outline = dropInvalidNodes(c.Outline, 1, &left, &count)
}

func dropInvalidNodes(nodes []Node, depth int, left, count *int) []Node {
	if depth > MaxDepth {
		return nil
	}
	var all []Node
	for _, n := range nodes {
		*count++
		*left -= n.size()
		n.GUID = clipBytes(n.GUID, maxURL)
		if *count > MaxNodes || *left < 0 {
			break
		}
		if _, err := CheckURL("", n.Link, false); err != nil {
			n.Link = ""
		}
		n.Categories, n.Enclosures = validCategories(n.Categories), validEnclosures(n.Enclosures)
		n.Nodes = dropInvalidNodes(n.Nodes, depth+1, left, count)
		all = append(all, n)
	}
	return all
}

func validCategories(labels []string) []string {
	var all []string
	for _, l := range labels {
		l = clipRunes(l, maxLabel)
		if CategoryName(l) != "" && len(all) < MaxCategories {
			all = append(all, l)
		}
	}
	return all
}

func validEnclosures(list []Enclosure) []Enclosure {
	var all []Enclosure
	for _, e := range list {
		e.Length, e.Duration = max(e.Length, 0), max(e.Duration, 0)
		if len(all) < MaxEnclosures && checkEnclosures([]Enclosure{e}) == nil {
			all = append(all, e)
		}
	}
	return all
}

func clipBytes(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return markup.CleanText(s[:limit])
}
