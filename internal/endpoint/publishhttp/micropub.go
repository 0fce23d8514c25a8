package publishhttp

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/date"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/text"
	"cloudburst/protocol/micropub"
)

// Micropub is the endpoint for programs that write posts by Micropub, with a token. Posts, Accounts
// and Public must be set.
type Micropub struct {
	Posts    Posts
	Accounts interface {
		Token(ctx context.Context, plain, scope string, from account.Caller) (account.Token, error)
	}
	Public func() string // public origin of this server
	// Path returns the URL of this server at which a URL is served, if it is one of its URLs. So the
	// path begins with the user, also if the user has a domain.
	Path  func(raw string) (served *url.URL, own bool)
	Files Files // nil: files are not supported
	// MaxFile is the maximum size of a file in bytes. It is used for the list of routes only; Files
	// enforces the limit.
	MaxFile int64
	// ListFiles lists a user's files that come after the given one, newest first. Nil: there is no
	// list.
	ListFiles func(ctx context.Context, user string, after *author.File, limit int) ([]author.File, error)
	// Describe returns the media type and length of a file on another server. Nil: the media type
	// follows from the file name.
	Describe func(ctx context.Context, url string) (author.Enclosure, error)
	Now      func() time.Time // nil: time.Now
	Trusted  []netip.Prefix   // see [endpoint.CallerAddr]
	Log      *slog.Logger     // nil: no log
}

// Paths of Micropub.
const (
	pathMicropub      = "/micropub"
	pathMicropubMedia = "/micropub/media"
	// pathWrite plus the number of a post is the path of the editor, for a post without a page.
	pathWrite = "/write/"
)

const viaMicropub = "micropub"

func (m *Micropub) now() time.Time {
	return date.Now(m.Now)
}

// micropubSite implements micropub.Backend and micropub.Media.
type micropubSite struct{ m *Micropub }

// micropubError converts an error for the interface.
func micropubError(err error) error {
	if err == nil {
		return nil
	}
	e := &micropub.Error{Status: http.StatusBadRequest, Code: micropub.InvalidRequest, Description: fault.Message(err), RetryAfter: fault.RetryAfter(err)}
	switch fault.CodeOf(err) {
	case fault.Internal:
		return err
	case fault.Refused:
		e.Status, e.Code = http.StatusForbidden, micropub.Forbidden
	case fault.TooMany:
		e.Status, e.Code = http.StatusTooManyRequests, "too_many_requests"
	case fault.Unavailable:
		e.Status, e.Code = http.StatusServiceUnavailable, "temporarily_unavailable"
	case fault.Conflict:
		e.Status = http.StatusConflict
	case fault.Unsupported:
		e.Status = http.StatusNotImplemented
	}
	return e
}

// Authenticate checks an access token of a user.
func (s *micropubSite) Authenticate(ctx context.Context, token string) (micropub.Session, error) {
	from := account.Caller{Via: viaMicropub}
	if r := micropub.RequestFrom(ctx); r != nil {
		from.Addr = endpoint.CallerAddr(r, s.m.Trusted)
	}
	t, err := s.m.Accounts.Token(ctx, token, "", from)
	if err != nil && fault.CodeOf(err) == fault.Refused {
		return micropub.Session{}, &micropub.Error{Status: http.StatusUnauthorized, Code: micropub.Unauthorized, Description: fault.Message(err)}
	}
	return micropub.Session{User: t.User, Scopes: t.Scopes}, micropubError(err)
}

// Create creates a post from an h-entry. Other types are treated as an h-entry, as far as their
// properties are the same.
func (s *micropubSite) Create(ctx context.Context, user string, r *micropub.Request) (at string, later bool, err error) {
	always := func(string) bool { return true }
	w, err := publicationOf(r.Properties, always)
	if err != nil {
		return "", false, micropubError(err)
	}
	if w.to == "" {
		w.to = author.Published
	}
	files := s.enclosures(ctx, r.Properties, nil)
	p, err := s.m.Posts.Save(ctx, author.Edit{User: user, To: w.to, At: w.at, Slug: r.Slug(), Via: viaMicropub, Change: func(c *author.Content) error {
		fillNew(c, r.Properties)
		w.fill(c)
		c.Enclosures = files
		return nil
	}})
	if err != nil {
		return "", false, micropubError(err)
	}
	addWarning(micropub.HeaderFrom(ctx), s.m.Posts.Warning(ctx, p))
	return s.address(p), p.State == author.Scheduled, nil
}

// address returns the URL of a post's page, or of the editor as long as the post is not public.
//
// spec:cloudburst#micropub-drafts
func (s *micropubSite) address(p author.Post) string {
	if p.State != author.Published && p.State != author.Deleted || p.Slug == "" {
		return s.m.Public() + pathWrite + strconv.FormatInt(p.ID, 10)
	}
	return s.m.Posts.Address(p)
}

// find returns the user's post with the given URL or guid.
func (s *micropubSite) find(ctx context.Context, user, at string) (author.Post, error) {
	var p author.Post
	var none error = fault.New(fault.NotFound, "There is no post of yours at %s.", text.Clip(at, 200))
	err := none
	if u, own := s.m.Path(at); own {
		parts := strings.Split(strings.Trim(u.Path, "/"), "/")
		number, numbered := strings.CutPrefix(u.Path, pathWrite)
		id, _ := strconv.ParseInt(number, 10, 64) // on an error the number is 0, which no post has
		switch {
		case numbered && id > 0:
			p, err = s.m.Posts.Get(ctx, user, id)
		case len(parts) == 5 && parts[0] == user:
			p, err = s.m.Posts.BySlug(ctx, user, parts[4])
		}
	}
	if err != nil && fault.CodeOf(err) == fault.NotFound {
		p, err = s.m.Posts.ByKey(ctx, user, "", at)
	}
	if err != nil && fault.CodeOf(err) == fault.NotFound {
		err = none
	}
	return p, err
}

// Update changes only the properties that the request contains.
func (s *micropubSite) Update(ctx context.Context, user string, r *micropub.Request) (string, error) {
	was, err := s.find(ctx, user, r.URL)
	if err != nil {
		return "", micropubError(err)
	}
	if was.State == author.Deleted {
		return "", micropubError(fault.New(fault.Gone, "This post was deleted; bring it back first (action undelete)."))
	}
	before := s.properties(was)
	nameLink(before, r)
	next := r.Apply(before)
	w, err := publicationOf(next, r.Touches)
	if err == nil && before.Has("published") && !next.Has("published") && w.to != author.Draft {
		err = fault.New(fault.Invalid, "A post keeps its date: replace published, or make the post a draft. Nothing was saved.")
	}
	if err != nil {
		return "", micropubError(err)
	}
	var files []author.Enclosure
	filed := r.Touches("photo") || r.Touches("video") || r.Touches("audio")
	if filed {
		files = s.enclosures(ctx, next, was.Enclosures)
	}
	// Base is the revision that was read, so a concurrent change by another program is detected.
	p, err := s.m.Posts.Save(ctx, author.Edit{User: user, ID: was.ID, Base: was.Revision, To: w.to, At: w.at, Slug: cmp.Or(r.Slug(), next.Text("mp-slug")), Via: viaMicropub,
		Change: func(c *author.Content) error {
			fillTouched(c, next, r.Touches)
			w.fill(c)
			if filed {
				c.Enclosures = files
			}
			return nil
		}})
	if err != nil {
		return "", micropubError(err)
	}
	addWarning(micropub.HeaderFrom(ctx), s.m.Posts.Warning(ctx, p))
	if s.address(p) == s.address(was) {
		return "", nil // the URL is unchanged, even if the request used another URL of the post
	}
	return s.address(p), nil
}

// Delete deletes a post. Deleting a deleted post has no effect.
func (s *micropubSite) Delete(ctx context.Context, user, at string) error {
	p, err := s.find(ctx, user, at)
	if err == nil {
		_, err = s.m.Posts.Delete(ctx, user, p.ID, 0, viaMicropub)
	}
	return micropubError(err)
}

// Undelete restores a post. As long as the deletion can be undone, the post is restored unchanged.
// Afterwards it is restored from its last content, and published if it was published before.
//
// spec:cloudburst#micropub-undelete
func (s *micropubSite) Undelete(ctx context.Context, user, at string) (string, error) {
	p, err := s.find(ctx, user, at)
	if err != nil {
		return "", micropubError(err)
	}
	if p.State != author.Deleted {
		return "", nil // the post is not deleted
	}
	if p.UndoUntil.After(s.m.now()) {
		if _, err = s.m.Posts.Undo(ctx, user, p.ID, viaMicropub); err == nil {
			return "", nil
		}
	}
	to := author.Draft
	if p.Slug != "" || len(p.Groups) > 0 && p.GUID != "" {
		to = author.Published
	}
	p, err = s.m.Posts.Save(ctx, author.Edit{User: user, ID: p.ID, To: to, Via: viaMicropub})
	if err == nil {
		addWarning(micropub.HeaderFrom(ctx), s.m.Posts.Warning(ctx, p))
	}
	return "", micropubError(err)
}

// Source returns a post as properties.
func (s *micropubSite) Source(ctx context.Context, user, at string) (micropub.Object, error) {
	p, err := s.find(ctx, user, at)
	if err != nil {
		return micropub.Object{}, micropubError(err)
	}
	return s.object(p), nil
}

func (s *micropubSite) object(p author.Post) micropub.Object {
	return micropub.Object{Type: []string{"h-entry"}, Properties: s.properties(p)}
}

// Posts lists posts, including drafts.
func (s *micropubSite) Posts(ctx context.Context, user string, q micropub.ListQuery) ([]micropub.Object, error) {
	query := author.PostQuery{User: user, Category: author.CategoryName(q.Category)}
	switch q.PostStatus {
	case "":
	case "published":
		query.State = author.Published
	case "draft":
		query.State = author.Draft
	default:
		return nil, micropubError(fault.New(fault.Invalid, "post-status is %q: it must be published or draft.", text.Clip(q.PostStatus, 40)))
	}
	if query.Category != "" {
		if query.State == author.Draft {
			return nil, micropubError(fault.New(fault.Invalid, "category selects published posts only: leave it out to list drafts."))
		}
		query.State = author.Published
	}
	list, err := skipped(q.Offset, q.Limit, func(n int, after *author.Post) ([]author.Post, error) {
		query.Limit, query.After = n, after
		return s.m.Posts.List(ctx, query)
	})
	if err != nil {
		return nil, micropubError(err)
	}
	out := make([]micropub.Object, len(list))
	for i, p := range list {
		out[i] = s.object(p)
	}
	return out, nil
}

// maxOffset is the maximum offset of a list. It is limited because the skipped entries must be
// read.
const maxOffset = 10_000

// skipped reads a list from an offset on. read continues after an entry and knows no offset.
func skipped[T any](offset, limit int, read func(n int, after *T) ([]T, error)) ([]T, error) {
	if offset > maxOffset {
		return nil, fault.New(fault.Invalid, "offset is %d: at most %d entries can be skipped.", offset, maxOffset)
	}
	var after *T
	for offset > 0 {
		n := min(offset, 1000)
		list, err := read(n, after)
		if err != nil || len(list) < n {
			return nil, err
		}
		offset, after = offset-n, &list[n-1]
	}
	return read(limit, after)
}

// Categories returns the categories of published posts, and those that were created before their
// first post.
func (s *micropubSite) Categories(ctx context.Context, user string) ([]string, error) {
	counts, err := s.m.Posts.Categories(ctx, user)
	names := make([]string, len(counts))
	for i, c := range counts {
		names[i] = c.Label
	}
	return names, micropubError(err)
}

// Config describes the supported properties. There are no syndication targets, because subscribers
// get notifications anyway.
func (s *micropubSite) Config(context.Context, string) (micropub.Config, error) {
	base := []string{"name", "content", "category", "photo", "video", "audio", "published", "post-status", "visibility", "audience", "mp-slug"}
	kind := func(kind, name string, more ...string) micropub.PostType {
		return micropub.PostType{Type: kind, Name: name, Properties: append(more, base...)}
	}
	c := micropub.Config{Visible: []string{"public", "private"}, PostTypes: []micropub.PostType{
		kind("note", "Note"), kind("article", "Article"), kind("photo", "Photo"), kind("video", "Video"), kind("audio", "Audio"),
		kind("reply", "Reply", "in-reply-to"), kind("bookmark", "Bookmark", "bookmark-of"),
	}}
	if s.m.Files != nil {
		c.MediaEndpoint = s.m.Public() + pathMicropubMedia
	}
	return c, nil
}

// Store stores a file.
func (s *micropubSite) Store(ctx context.Context, user string, f *micropub.Upload) (string, error) {
	file, err := s.m.Files.Put(ctx, user, f.Name, f.Type, f)
	if err != nil {
		return "", micropubError(err)
	}
	return s.m.Public() + s.m.Files.Path(file), nil
}

// Files lists the uploaded files.
func (s *micropubSite) Files(ctx context.Context, user string, q micropub.ListQuery) ([]micropub.MediaFile, error) {
	if s.m.ListFiles == nil {
		return nil, micropubError(fault.New(fault.Unsupported, "Files are not listed here."))
	}
	list, err := skipped(q.Offset, q.Limit, func(n int, after *author.File) ([]author.File, error) {
		return s.m.ListFiles(ctx, user, after, n)
	})
	out := make([]micropub.MediaFile, len(list))
	for i, f := range list {
		out[i] = micropub.MediaFile{URL: s.m.Public() + s.m.Files.Path(f), Type: f.Type, Name: f.Name, Size: f.Size, Published: f.AddedAt}
	}
	return out, micropubError(err)
}
