package api

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/client"
	"cloudburst/internal/announce"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	documents "cloudburst/internal/serve"
)

// Posts stores the posts of users. [*author.Posts] implements it.
type Posts interface {
	Groups
	Composer(ctx context.Context, user string) (author.Composer, error)
	Save(ctx context.Context, e author.Edit) (author.Post, error)
	Delete(ctx context.Context, user string, id, base int64, via string) (author.Post, error)
	Undo(ctx context.Context, user string, id int64, via string) (author.Post, error)
	Get(ctx context.Context, user string, id int64) (author.Post, error)
	List(ctx context.Context, q author.PostQuery) ([]author.Post, error)
	Writer(ctx context.Context, user string) (author.Writer, error)
	SetProfile(ctx context.Context, user string, change func(*author.Profile) error, via string) (author.Writer, error)
	Address(p author.Post) string
	Warning(ctx context.Context, p author.Post) string // returns the warning about a published post that exceeds the limit; "": no warning
}

// postAPI implements the endpoints for a user's posts and files.
type postAPI struct{ *Server }

// postRoute is an endpoint for the posts, files or profile of one user. The operator and the user's
// programs use the same endpoint. A program needs a token with one of the scopes.
type postRoute struct {
	method, path string
	scopes       []string
	handle       func(postAPI, *postCall) error
}

// plainPost wraps an endpoint without parameters.
func plainPost(handle func(postAPI, *postCall) error) func(postAPI, *postCall) error {
	return func(s postAPI, c *postCall) error {
		if p := exchange.ReadParams(c.r); p.Err != nil {
			return p.Err
		}
		return handle(s, c)
	}
}

// postRoutes lists the endpoints for posts, files and profiles. Their results include drafts, so
// the scope read alone is not enough.
func postRoutes() []postRoute {
	writes := []string{scopeCreate, scopeUpdate, scopeDelete}
	return append(slices.Concat(replyRoutes(), siteRoutes(), domainRoutes()), []postRoute{
		{"GET", "/v1/users/{user}/posts", writes, (postAPI).posts},
		{"POST", "/v1/users/{user}/posts", []string{scopeCreate}, plainPost((postAPI).createPost)},
		{"POST", "/v1/users/{user}/posts/preview", []string{scopeCreate, scopeUpdate}, plainPost((postAPI).previewPost)},
		{"GET", "/v1/users/{user}/posts/{id}", writes, (postAPI).post},
		{"PATCH", "/v1/users/{user}/posts/{id}", []string{scopeUpdate}, (postAPI).changePost},
		{"DELETE", "/v1/users/{user}/posts/{id}", []string{scopeDelete}, (postAPI).deletePost},
		{"POST", "/v1/users/{user}/posts/{id}/undo", []string{scopeCreate, scopeUpdate}, (postAPI).undoPost},
		{"GET", "/v1/users/{user}/groups", writes, plainPost((postAPI).groups)},
		{"POST", "/v1/users/{user}/groups", []string{scopeUpdate}, groupCall(true, func(s postAPI, c *postCall, _ string, in author.Group) (author.Group, error) {
			return s.Posts.AddGroup(c.ctx(), c.user, in)
		})},
		{"PUT", "/v1/users/{user}/groups/{slug}", []string{scopeUpdate}, groupCall(true, func(s postAPI, c *postCall, slug string, in author.Group) (author.Group, error) {
			return s.Posts.ChangeGroup(c.ctx(), c.user, slug, func(g *author.Group) { g.Name, g.Description = in.Name, in.Description })
		})},
		{"DELETE", "/v1/users/{user}/groups/{slug}", []string{scopeDelete}, groupCall(false, func(s postAPI, c *postCall, slug string, _ author.Group) (author.Group, error) {
			return s.Posts.RemoveGroup(c.ctx(), c.user, slug)
		})},
		{"POST", "/v1/users/{user}/groups/{slug}/restore", []string{scopeUpdate, scopeDelete}, groupCall(false, func(s postAPI, c *postCall, slug string, _ author.Group) (author.Group, error) {
			return s.Posts.RestoreGroup(c.ctx(), c.user, slug)
		})},
		{"GET", "/v1/users/{user}/posts/{id}/versions", writes, (postAPI).versions},
		{"POST", "/v1/users/{user}/posts/{id}/versions/{number}/restore", []string{scopeUpdate}, (postAPI).restoreVersion},
		{"GET", "/v1/users/{user}/profile", writes, plainPost((postAPI).profile)},
		{"PUT", "/v1/users/{user}/profile", []string{scopeUpdate}, plainPost((postAPI).setProfile)},
		{"GET", "/v1/users/{user}/media", []string{scopeMedia, scopeCreate, scopeUpdate}, (postAPI).files},
		{"POST", "/v1/users/{user}/media", []string{scopeMedia}, (postAPI).putFile},
		{"DELETE", "/v1/users/{user}/media/{hash}", []string{scopeDelete}, (postAPI).removeFile},
	}...)
}

// postCall is one request about the posts of one user.
type postCall struct {
	w      http.ResponseWriter
	r      *http.Request
	user   string
	public bool // the client is a program with a token, not the operator
}

func (c *postCall) ctx() context.Context { return c.r.Context() }

// via returns the name of the interface for the log.
func (c *postCall) via() string {
	if c.public {
		return "api"
	}
	return viaCLI
}

// operatorPosts returns the routes for the operator.
func (s *Server) operatorPosts() []operation {
	var list []operation
	for _, to := range postRoutes() {
		list = append(list, operation{to.method, to.path, func(w http.ResponseWriter, r *http.Request) error {
			if s.Options.Posts == nil || s.Options.Accounts == nil {
				return fault.New(fault.Unsupported, "This server does not support posts.")
			}
			u, err := s.Accounts.User(r.Context(), r.PathValue("user"))
			if err != nil {
				return err
			}
			return to.handle(postAPI{s}, &postCall{w: w, r: r, user: u.Name})
		}})
	}
	return list
}

// id returns the ID of the post in the path.
func (c *postCall) id() (int64, error) {
	text := c.r.PathValue("id")
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, fault.New(fault.Invalid, "%q is not an id: it must be a number.", cut(text, 100))
	}
	return id, nil
}

// revisions returns the revisions that a header such as If-Match lists. A tag that names no revision,
// and a weak one unless weakToo is set, becomes noRevision, and so does a header without a tag. each: the
// header has "*".
func (c *postCall) revisions(header string, weakToo bool) (all []int64, each bool) {
	for _, list := range c.r.Header.Values(header) {
		for tag, weak, rest := documents.NextTag(list); tag != ""; tag, weak, rest = documents.NextTag(rest) {
			n, err := strconv.ParseInt(strings.Trim(tag, `"`), 10, 64)
			if err != nil || n <= 0 || weak && !weakToo {
				n = noRevision
			}
			all, each = append(all, n), each || tag == "*"
		}
		if list != "" && len(all) == 0 {
			all = []int64{noRevision}
		}
	}
	return all, each
}

// noRevision is a revision that no post has.
const noRevision = math.MaxInt64

// base returns the revision of If-Match that a change is based on; 0 accepts any revision.
func (s postAPI) base(c *postCall, id int64) (int64, error) {
	all, each := c.revisions("If-Match", false)
	switch {
	case each, len(all) == 0:
		return 0, nil
	case len(all) == 1:
		return all[0], nil
	}
	p, err := s.Posts.Get(c.ctx(), c.user, id)
	if err == nil && slices.Contains(all, p.Revision) {
		return p.Revision, nil
	}
	return noRevision, err
}

// plain returns the ID of the post in the path of a request that has no parameters.
func (c *postCall) plain() (id int64, err error) {
	if p := exchange.ReadParams(c.r); p.Err != nil {
		return 0, p.Err
	}
	return c.id()
}

// answerPost sends a post. If the revision in If-Match is outdated, the status is 412. If a GET or
// HEAD names the revision in If-None-Match, the status is 304.
func (s postAPI) answerPost(c *postCall, status int, base int64, p author.Post, err error) error {
	if err != nil && base > 0 && fault.CodeOf(err) == fault.Conflict {
		message := err.Error()
		if c.public {
			message = fault.Message(err)
		}
		exchange.WriteFault(c.w, http.StatusPreconditionFailed, err, message)
		return nil
	}
	if err != nil {
		return err
	}
	c.w.Header().Set("ETag", strconv.Quote(strconv.FormatInt(p.Revision, 10)))
	read := c.r.Method == http.MethodGet || c.r.Method == http.MethodHead
	if all, each := c.revisions("If-None-Match", true); read && (each || slices.Contains(all, p.Revision)) {
		c.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	if status == http.StatusCreated {
		c.w.Header().Set("Location", fmt.Sprintf("/v1/users/%s/posts/%d", p.User, p.ID))
	}
	exchange.WriteJSON(c.w, status, s.postOf(c.ctx(), p))
	return nil
}

func (s postAPI) posts(c *postCall) error {
	p := exchange.ReadParams(c.r, exchange.Paged("state", "category", "match", "since")...)
	q := author.PostQuery{User: c.user, State: author.State(p.Text("state")), Match: p.Text("match"), Category: p.Text("category"),
		Since: p.Time("since"), Before: p.Time("before"), Limit: p.Limit()}
	cursor := p.CursorOr("after") // in this list, the parameter before is a filter
	if p.Err != nil {
		return p.Err
	}
	switch q.State {
	case "", author.Draft, author.Scheduled, author.Published, author.ForGroups, author.Deleted:
	default:
		return fault.New(fault.Invalid, "state is %q: it must be one of draft, scheduled, published, private, deleted.", cut(string(q.State), 100))
	}
	if q.Category != "" || !q.Since.IsZero() || !q.Before.IsZero() {
		if q.State != "" && q.State != author.Published {
			return fault.New(fault.Invalid, "category, since and before select published posts: remove state.")
		}
		q.State = author.Published
	}
	if q.Category != "" {
		if q.Category = author.CategoryName(q.Category); q.Category == "" {
			return fault.New(fault.Invalid, "category has neither a letter nor a digit.")
		}
	}
	if cursor != "" {
		var err error
		if q.After, err = postCursor(c.user, cursor); err != nil {
			return err
		}
	}
	rows, err := s.Posts.List(c.ctx(), q)
	if err != nil {
		return err
	}
	list := make([]client.Post, len(rows))
	for i, row := range rows {
		list[i] = s.postOf(c.ctx(), row)
	}
	page := exchange.Page{Name: "posts", Rows: list}
	if len(rows) == q.Limit {
		page.Next = cursorOf(rows[len(rows)-1])
	}
	return exchange.OK(c.w, page)
}

// cursorOf returns the cursor of the page that follows the post p.
func cursorOf(p author.Post) string {
	return fmt.Sprintf("%d.%d.%d", microOf(p.PublishedAt), microOf(p.UpdatedAt), p.ID)
}

func microOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func postCursor(user, text string) (*author.Post, error) {
	parts := strings.Split(text, ".")
	var n [3]int64
	for i := range n {
		var err error
		if len(parts) != 3 {
			err = strconv.ErrSyntax
		} else {
			n[i], err = strconv.ParseInt(parts[i], 10, 64)
		}
		if err != nil {
			return nil, exchange.BadCursor(text)
		}
	}
	at := func(micro int64) time.Time {
		if micro == 0 {
			return time.Time{}
		}
		return time.UnixMicro(micro).UTC()
	}
	return &author.Post{User: user, PublishedAt: at(n[0]), UpdatedAt: at(n[1]), ID: n[2]}, nil
}

func (s postAPI) createPost(c *postCall) error {
	var in client.PostChange
	if err := exchange.ReadJSONTo(c.w, c.r, &in, maxPost); err != nil {
		return err
	}
	s.describe(c.ctx(), &in)
	e := editOf(c, &in)
	if e.To == "" {
		e.To = author.Published
	}
	if e.Key = c.r.Header.Get("Idempotency-Key"); len(c.r.Header.Values("Idempotency-Key")) > 1 {
		return fault.New(fault.Invalid, "The header Idempotency-Key occurs more than once.")
	}
	p, err := s.Posts.Save(c.ctx(), e)
	return s.answerPost(c, http.StatusCreated, 0, p, err)
}

func (s postAPI) previewPost(c *postCall) error {
	var in client.PostChange
	if err := exchange.ReadJSONTo(c.w, c.r, &in, maxPost); err != nil {
		return err
	}
	var content author.Content
	form.ChangeContent(&content, &in)
	o, err := s.Posts.Composer(c.ctx(), c.user)
	if err != nil {
		return err
	}
	content, m, err := o.Preview(content)
	return exchange.Answer(c.w, client.Preview{HTML: content.HTML, Outline: form.Nodes(content.Outline), Characters: m.Characters, Limit: m.Limit, Over: m.Over}, err)
}

func (s postAPI) post(c *postCall) error {
	id, err := c.plain()
	if err != nil {
		return err
	}
	p, err := s.Posts.Get(c.ctx(), c.user, id)
	return s.answerPost(c, http.StatusOK, 0, p, err)
}

func (s postAPI) changePost(c *postCall) error {
	id, err := c.plain()
	if err != nil {
		return err
	}
	base, err := s.base(c, id)
	if err != nil {
		return err
	}
	var in client.PostChange
	if err := exchange.ReadJSONTo(c.w, c.r, &in, maxPost); err != nil {
		return err
	}
	s.describe(c.ctx(), &in)
	e := editOf(c, &in)
	e.ID, e.Base = id, base
	p, err := s.Posts.Save(c.ctx(), e)
	return s.answerPost(c, http.StatusOK, base, p, err)
}

func (s postAPI) deletePost(c *postCall) error {
	id, err := c.plain()
	if err != nil {
		return err
	}
	base, err := s.base(c, id)
	if err != nil {
		return err
	}
	p, err := s.Posts.Delete(c.ctx(), c.user, id, base, c.via())
	return s.answerPost(c, http.StatusOK, base, p, err)
}

func (s postAPI) undoPost(c *postCall) error {
	id, err := c.plain()
	if err != nil {
		return err
	}
	p, err := s.Posts.Undo(c.ctx(), c.user, id, c.via())
	return s.answerPost(c, http.StatusOK, 0, p, err)
}

func (s postAPI) profile(c *postCall) error {
	w, err := s.Posts.Writer(c.ctx(), c.user)
	return answerWriter(c, w, err)
}

func (s postAPI) setProfile(c *postCall) error {
	var in client.Profile
	if err := exchange.ReadJSON(c.w, c.r, &in); err != nil {
		return err
	}
	if _, err := announce.ParseOwn(in.PingTargets); err != nil {
		return err
	}
	if in.Rules != nil {
		if err := form.RulesIn(in.Rules).Check(); err != nil {
			return fault.In(err, "rules")
		}
	}
	w, err := s.Posts.SetProfile(c.ctx(), c.user, func(p *author.Profile) error {
		hints := p.Hints
		if in.Hints != nil {
			hints = form.HintsIn(in.Hints)
		}
		*p = author.Profile{Hints: hints, Page: p.Page.With(in.Page), Name: in.Name, Email: in.Email, Title: in.Title, Blurb: in.Blurb, Link: in.Link, Language: in.Language,
			Accent: in.Accent, Avatar: in.Avatar, Theme: in.Theme, PingTargets: in.PingTargets}
		return nil
	}, c.via())
	if err == nil && in.Rules != nil {
		w.Rules = form.RulesIn(in.Rules)
		err = s.Rules.SetRules(c.ctx(), c.user, w.Rules)
	}
	return answerWriter(c, w, err)
}

func answerWriter(c *postCall, w author.Writer, err error) error {
	if err != nil {
		return err
	}
	p, page := w.Profile, client.PageSettings{Links: []client.ProfileLink{}}
	author.CopySettings(w.Page, &page)
	return exchange.OK(c.w, client.Writer{User: c.user, Written: w.Written, Posts: w.Posts, Profile: client.Profile{
		Name: p.Name, Email: p.Email, Title: p.Title, Blurb: p.Blurb, Link: p.Link, Language: p.Language, Accent: p.Accent, Avatar: p.Avatar, Theme: p.Theme,
		PingTargets: append([]string{}, p.PingTargets...), Hints: form.Hints(p.Hints), Page: &page, Rules: form.Rules(p.Rules),
	}})
}
