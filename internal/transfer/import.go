package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cloudburst/feed"
	"cloudburst/internal/author"
	"cloudburst/internal/author/rules"
	"cloudburst/internal/fault"
	"cloudburst/internal/href"
)

// Result is the outcome of an import.
type Result struct {
	Kind     string `json:"kind"`              // "cloudburst", "wordpress", "mastodon", "twitter", "microblog", "blogger", "markdown", or the format of a feed: "rss", "atom", "json" …
	Found    int    `json:"found"`             // number of posts in the file
	Added    int    `json:"added"`             // number of these posts that were added
	Existing int    `json:"had"`               // number of these posts that were already present
	Skipped  int    `json:"left"`              // number of these posts that were left out, see Problems
	Files    int    `json:"files"`             // number of files that were added
	Profile  bool   `json:"profile,omitempty"` // part of the profile was imported
	// Preview means that nothing was stored: Added, Files and Profile are what an import would add.
	Preview   bool      `json:"preview,omitempty"`
	Drafts    int       `json:"drafts,omitempty"`    // number of drafts in the file, except posts that were left out
	Replies   int       `json:"replies,omitempty"`   // number of replies to other people in the file, imported or not
	Boosts    int       `json:"boosts,omitempty"`    // number of boosts in the file, imported or not
	FileBytes int64     `json:"fileBytes,omitempty"` // total bytes of the added files, if known
	From      time.Time `json:"from,omitzero"`       // time of publication of the oldest post
	To        time.Time `json:"to,omitzero"`         // time of publication of the newest post
	// Omitted counts the posts that were left out, per reason.
	Omitted []Omission `json:"omitted,omitempty"`
	// Moved lists old URLs with the new URLs, at most 200,000.
	Moved []Moved `json:"moved,omitempty"`
	// Problems describes the data that was left out, in at most 20 messages.
	Problems []string `json:"problems,omitempty"`
}

// Omission is a number of posts that were left out for the same reason.
type Omission struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// Moved is the old URL of an imported post, and its URL on this server. From is a path if the
// archive does not contain the name of the old server.
type Moved struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Options selects what an import does.
type Options struct {
	Preview bool // counts the data, but stores nothing
	Replies bool // also imports replies to other people
	Boosts  bool // also imports boosts of other people's posts
}

const maxMoved = 200_000

// span extends the range from r.From to r.To to the publication of a post, and counts drafts.
func (r *Result) span(p author.Post) {
	if p.State == author.Draft {
		r.Drafts++
	}
	at := p.PublishedAt
	if at.IsZero() {
		return
	}
	if r.From.IsZero() || at.Before(r.From) {
		r.From = at
	}
	if at.After(r.To) {
		r.To = at
	}
}

const maxProblems = 20

func (r *Result) problem(text string) {
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, text)
	}
}

// These are the limits of an import.
const (
	maxFeed     = 64 << 20 // maximum bytes of a feed, which is parsed in memory
	maxItems    = 200_000  // maximum number of items of a feed
	maxTags     = 1 << 20  // maximum number of "<" in a feed: an element takes hundreds of bytes in memory but only four in the file
	maxMembers  = 2 << 20  // maximum number of separators in a JSON feed, which limits the memory for its values
	maxUnknown  = 100_000  // maximum number of unknown elements per item or feed
	maxLine     = 4 << 20  // maximum bytes of a post in JSON, which contains its text twice, escaped
	batchPosts  = 10_000   // posts per batch: the feed is rebuilt once per batch
	batchBytes  = 32 << 20 // bytes of text per batch
	sniffFormat = 64 << 10 // bytes that identify the type of a file
)

// Import imports a file that Export wrote, an archive or export of another program, or a feed of
// any format. The content identifies the program, not the name. Import leaves existing posts,
// identified by GUID or key, unchanged. After an error, the data imported so far remains, and the
// result describes this data. A repeated import continues.
//
// The messages of faults are for users. fault.Invalid: the file has an unknown type, is damaged or
// contradicts itself. fault.Unavailable: the file cannot be read, or ctx has ended. Other faults
// come from author.Posts.Import and upload.Files.Put.
func (t *Transfer) Import(ctx context.Context, user string, r io.ReaderAt, size int64, opts Options, progress Progress) (Result, error) {
	head := make([]byte, min(size, sniffFormat))
	if n, err := r.ReadAt(head, 0); err != nil && (!errors.Is(err, io.EOF) || n < len(head)) {
		return Result{}, fault.Wrap(fault.Unavailable, err, "The file could not be read.")
	}
	switch {
	case bytes.HasPrefix(head, []byte("PK")):
		return t.importZIP(ctx, user, r, size, opts, progress)
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return t.importTar(ctx, user, r, size, opts, progress)
	case isWXR(head):
		return t.importWXR(ctx, user, r, size, opts, progress)
	case isBlogger(head):
		return t.importBlogger(ctx, user, r, size, opts, progress)
	}
	return t.importFeed(ctx, user, r, size, opts, progress)
}

// importFeed imports the items of a feed.
func (t *Transfer) importFeed(ctx context.Context, user string, r io.ReaderAt, size int64, opts Options, progress Progress) (Result, error) {
	if size > maxFeed {
		return Result{}, fault.New(fault.Invalid, "The file has %d MiB; a feed may have at most %d MiB.", size>>20, maxFeed>>20)
	}
	doc, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	if err != nil {
		return Result{}, fault.Wrap(fault.Unavailable, err, "The file could not be read.")
	}
	if tooMany(doc) {
		return Result{}, fault.New(fault.Invalid, "The feed has more than %d elements; nothing was imported. Split it into smaller files.", maxTags/2)
	}
	f, err := feed.ParseBytes(doc, &feed.Options{URL: siteOf(doc), Limits: feed.Limits{Bytes: maxFeed, Items: maxItems, Unknown: maxUnknown}})
	if err != nil {
		return Result{}, fault.Wrap(fault.Invalid, err, "The file is not an export of a program that this server knows, and not a feed; nothing was imported.")
	}
	res := Result{Kind: string(f.Format), Preview: opts.Preview}
	for _, p := range f.Problems {
		if p.Kind == feed.ProblemTruncated {
			return res, fault.New(fault.Invalid, "The feed is incomplete; nothing was imported. Download the complete feed again.")
		}
	}
	b := t.newBatch(user, &res, progress, len(f.Items), opts)
	undated := 0
	posts := t.Posts.FromFeed(f, time.Time{})
	if err := author.KeepGUIDs(ctx, t.Posts.Store, user, f, posts); err != nil {
		return res, err
	}
	for _, p := range posts {
		if p.State == author.Draft {
			undated++
		}
		if err := b.addMoved(ctx, p, ownPage(f, &p)); err != nil {
			return res, err
		}
	}
	if err := b.finish(ctx); err != nil {
		return res, err
	}
	if undated > 0 {
		res.problem(fmt.Sprintf("%s: %d.", noteNoDate, undated))
	}
	if f.Title.Value == "" || opts.Preview {
		return res, nil
	}
	p := author.ProfileOf(f)
	return res, t.importProfile(ctx, user, author.Profile{Title: p.Title, Blurb: p.Blurb, Language: p.Language}, &res)
}

// siteOf returns the URL of the site that a feed names before its items, or else of the feed itself;
// "": it names neither. References in the feed are relative to this URL.
func siteOf(doc []byte) string {
	f, err := feed.ParseBytes(doc, &feed.Options{Item: func(*feed.Item) bool { return false }, Limits: feed.Limits{Bytes: maxFeed}})
	if err != nil {
		return ""
	}
	return siteAddress(f)
}

func siteAddress(f *feed.Feed) string {
	if at := webURL(f.Link); at != "" {
		return at
	}
	for _, l := range f.Links {
		if at := webURL(l.Href); l.Rel == "self" && at != "" {
			return at
		}
	}
	return ""
}

// ownPage returns the URL that the page of an imported post had, "" if unknown. The post gets a new
// page, so ownPage removes this URL from the post. A link to another site remains, because the post
// is about that page.
func ownPage(f *feed.Feed, p *author.Post) string {
	old := ""
	if p.PermaLink {
		old = webURL(p.GUID)
	}
	if site := siteAddress(f); p.Link != "" && (site == "" || href.Site(p.Link) == href.Site(site)) {
		old, p.Link = p.Link, ""
		p.Source = strings.ReplaceAll(p.Source, `"`+old+"#", `"#`) // references to a part of the post
	}
	return old
}

// tooMany reports whether parsing doc would take far more memory than its size suggests.
func tooMany(doc []byte) bool {
	if head := bytes.TrimLeft(doc, "\ufeff \t\r\n"); len(head) > 0 && head[0] == '{' {
		n := 0
		for _, sign := range []string{",", "[", "{"} {
			n += bytes.Count(doc, []byte(sign))
		}
		return n > maxMembers
	}
	return bytes.Count(doc, []byte("<")) > maxTags
}

// importProfile fills in the parts of the profile that the user has not set. It leaves out invalid
// languages and colours.
func (t *Transfer) importProfile(ctx context.Context, user string, p author.Profile, res *Result) error {
	w, err := t.Posts.Writer(ctx, user)
	if err != nil {
		return err
	}
	for _, label := range p.Categories {
		err := t.Posts.AddCategory(ctx, user, label)
		switch fault.CodeOf(err) {
		case fault.Invalid, fault.Conflict:
			res.problem("The category " + label + " was not created: " + fault.Message(err))
		default:
			if err != nil {
				return err
			}
		}
	}
	if err := t.importGroups(ctx, user, w, p.Groups, res); err != nil {
		return err
	}
	fill := func(old *author.Profile) (changed bool) {
		for _, f := range []struct{ to, from *string }{
			{&old.Name, &p.Name}, {&old.Email, &p.Email}, {&old.Title, &p.Title}, {&old.Blurb, &p.Blurb}, {&old.Link, &p.Link}, {&old.Language, &p.Language},
			{&old.Accent, &p.Accent}, {&old.Avatar, &p.Avatar}, {&old.Theme, &p.Theme}, {&old.Page.Header, &p.Page.Header}, {(*string)(&old.Page.Design), (*string)(&p.Page.Design)},
		} {
			if *f.to == "" && *f.from != "" {
				*f.to, changed = *f.from, true
			}
		}
		if old.Hints.IsZero() && !p.Hints.IsZero() {
			old.Hints, changed = p.Hints, true
		}
		if len(old.PingTargets) == 0 && len(p.PingTargets) > 0 {
			old.PingTargets, changed = p.PingTargets, true
		}
		if len(old.Page.Links) == 0 && len(p.Page.Links) > 0 {
			old.Page.Links, changed = p.Page.Links, true
		}
		return changed
	}
	if same := w.Profile; !fill(&same) {
		return nil
	}
	_, err = t.Posts.SetProfile(ctx, user, func(old *author.Profile) error {
		fill(old)
		return nil
	}, "import")
	if fault.CodeOf(err) == fault.Invalid {
		res.problem("The profile in the file was left out: " + fault.Message(err))
		return nil
	}
	res.Profile = err == nil
	return err
}

// importSettings imports the choices about webmentions and the rules for texts that the user has not
// set. The import calls it before it adds posts, because these posts send webmentions unless the
// author chose otherwise.
func (t *Transfer) importSettings(ctx context.Context, user string, p author.Profile, res *Result) error {
	w, err := t.Posts.Writer(ctx, user)
	if err != nil {
		return err
	}
	if none := (author.Mentions{}); w.Mentions == none && p.Mentions != none {
		if err := (author.MentionSettings{Posts: t.Posts.Posts}).SetMentions(ctx, user, p.Mentions); err != nil {
			return err
		}
		res.Profile = true
	}
	if none := (rules.Rules{}); w.Rules != none || p.Rules == none {
		return nil
	}
	err = author.RuleSettings{Posts: t.Posts.Posts}.SetRules(ctx, user, p.Rules)
	if fault.CodeOf(err) == fault.Invalid {
		res.problem("The rules for texts in the file were left out: " + fault.Message(err))
		return nil
	}
	res.Profile = res.Profile || err == nil
	return err
}

// importGroups creates the groups that the user does not have. The posts of these groups are
// already imported.
func (t *Transfer) importGroups(ctx context.Context, user string, w author.Writer, groups []author.Group, res *Result) error {
	known := w.AllGroups()
	for _, g := range groups {
		if g.IsDeleted() || slices.ContainsFunc(known, func(k author.Group) bool { return k.Slug == g.Slug }) {
			continue
		}
		_, err := t.Posts.AddGroup(ctx, user, g)
		switch code := fault.CodeOf(err); {
		case err == nil:
		case code == fault.Invalid || code == fault.Conflict:
			res.problem("The group " + g.Name + " was not created: " + fault.Message(err))
		default:
			return err
		}
	}
	return nil
}

func clip(s string, limit int) string {
	for i := range s {
		if limit--; limit < 0 {
			return s[:i] + "…"
		}
	}
	if !utf8.ValidString(s) {
		return ""
	}
	return s
}
