package api

import (
	"context"
	"io"
	"net/http"

	"cloudburst/client"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

// Feeds stores the hosted feeds. [*author.Feeds] implements it.
type Feeds interface {
	Put(ctx context.Context, d author.Document) (author.Feed, error)
	Feed(ctx context.Context, user, name string) (author.Feed, error)
	Move(ctx context.Context, user, name, to string) (author.Feed, error)
	MoveTemporarily(ctx context.Context, user, name, to string) (author.Feed, error)
	End(ctx context.Context, user, name string) (author.Feed, error)
	Restore(ctx context.Context, user, name string) (author.Feed, error)
	AddCloud(ctx context.Context, user string, on bool) (author.Feed, error)
	List(ctx context.Context, after string, limit int) ([]author.Feed, error)
}

// feedRoutes returns the endpoints for hosted feeds.
func (s accountAPI) feedRoutes() []operation {
	return []operation{
		{"GET", "/v1/feeds", s.withFeeds(s.feeds)},
		{"GET", "/v1/feeds/{user}/{feed}", s.withFeeds(plain(s.oneFeed))},
		{"PUT", "/v1/feeds/{user}/{feed}", s.withFeeds(s.saveFeed)},
		{"POST", "/v1/feeds/{user}/{feed}/move", s.withFeeds(s.moveFeed)},
		{"POST", "/v1/feeds/{user}/{feed}/end", s.withFeeds(s.endFeed)},
		{"POST", "/v1/feeds/{user}/{feed}/restore", s.withFeeds(s.restoreFeed)},
		{"POST", "/v1/feeds/{user}/{feed}/cloud", s.withFeeds(s.addCloud)},
	}
}

// withFeeds wraps an endpoint that requires Options.Feeds.
func (s accountAPI) withFeeds(handle func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if s.Options.Feeds == nil {
			return fault.New(fault.Unsupported, "This server does not host feeds.")
		}
		return handle(w, r)
	}
}

func (s accountAPI) feeds(w http.ResponseWriter, r *http.Request) error {
	p := exchange.ReadParams(r, exchange.Paged()...)
	cursor, limit := p.Cursor(), p.Limit()
	if p.Err != nil {
		return p.Err
	}
	rows, err := s.Feeds.List(r.Context(), cursor, limit)
	if err != nil {
		return err
	}
	page := exchange.Page{Name: "feeds", Rows: exchange.List(rows, s.savedOf)}
	if len(rows) == limit {
		last := rows[len(rows)-1]
		page.Next = last.User + "/" + last.Name
	}
	return exchange.OK(w, page)
}

func (s accountAPI) oneFeed(w http.ResponseWriter, r *http.Request) error {
	f, err := s.Feeds.Feed(r.Context(), r.PathValue("user"), r.PathValue("feed"))
	return s.answerFeed(w, f, err)
}

func (s accountAPI) answerFeed(w http.ResponseWriter, f author.Feed, err error) error {
	return exchange.Answer(w, s.savedOf(f), err)
}

func (s accountAPI) saveFeed(w http.ResponseWriter, r *http.Request) error {
	// Read one byte more than the limit, to detect a document that is too large.
	doc, err := io.ReadAll(io.LimitReader(r.Body, author.MaxDocument+1))
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "The upload of the document is incomplete")
	}
	f, err := s.Feeds.Put(r.Context(), author.Document{
		User: r.PathValue("user"), Name: r.PathValue("feed"), Bytes: doc, Type: r.Header.Get("Content-Type"), Via: viaCLI,
	})
	return s.answerFeed(w, f, err)
}

func (s accountAPI) moveFeed(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		To        string `json:"to"`
		Temporary bool   `json:"temporary"`
	}
	if err := exchange.ReadJSON(w, r, &in); err != nil {
		return err
	}
	move := s.Feeds.Move
	if in.Temporary {
		move = s.Feeds.MoveTemporarily
	}
	f, err := move(r.Context(), r.PathValue("user"), r.PathValue("feed"), in.To)
	return s.answerFeed(w, f, err)
}

func (s accountAPI) endFeed(w http.ResponseWriter, r *http.Request) error {
	f, err := s.Feeds.End(r.Context(), r.PathValue("user"), r.PathValue("feed"))
	return s.answerFeed(w, f, err)
}

func (s accountAPI) restoreFeed(w http.ResponseWriter, r *http.Request) error {
	f, err := s.Feeds.Restore(r.Context(), r.PathValue("user"), r.PathValue("feed"))
	return s.answerFeed(w, f, err)
}

// addCloud sets whether the server adds its cloud to a user's public feed.
func (s accountAPI) addCloud(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		On bool `json:"on"`
	}
	if err := exchange.ReadJSON(w, r, &in); err != nil {
		return err
	}
	if r.PathValue("feed") != author.Public {
		return fault.New(fault.Invalid, "The feed %q cannot have a cloud: only the public feed (%s) notifies readers of changes.", r.PathValue("feed"), author.Public)
	}
	f, err := s.Feeds.AddCloud(r.Context(), r.PathValue("user"), in.On)
	return s.answerFeed(w, f, err)
}

func (s *Server) savedOf(f author.Feed) client.SavedFeed {
	return client.SavedFeed{
		User: f.User, Name: f.Name, URL: s.feedURL(f.User, f.Name), Title: f.Title, Items: f.Items, Version: f.Version,
		SavedAt: form.Milli(f.SavedAt), Type: f.Type, Size: f.Size, MovedTo: f.MovedTo, Temporary: f.Temporary, Gone: f.Gone,
		AddCloud: f.AddCloud, Warning: f.Warning(),
	}
}

// feedURL returns the URL of a feed. The URL of a private feed does not contain a secret.
func (s *Server) feedURL(user, name string) string {
	if slug, ok := author.GroupOf(name); ok {
		return s.origin() + author.GroupBase(user, slug) + "rss.xml"
	}
	return s.origin() + "/" + user + "/rss.xml"
}

// origin returns the origin of the public listener; "": unknown.
func (s *Server) origin() string {
	if s.Origin != nil {
		return s.Origin()
	}
	return s.PublicURL
}
