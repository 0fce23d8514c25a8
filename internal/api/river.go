package api

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"cloudburst/client"
	"cloudburst/feed/opml"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/filter"
	"cloudburst/internal/river/forward"
)

// River stores the followed feeds and their items. [*river.River] implements it.
type River interface {
	RiverFeeds
	RiverItems
	RiverLists
	RiverForwardings
	Filters() *filter.Filters
	Counts(ctx context.Context) (river.SourceCounts, error)
	Live() river.Live
}

// RiverFeeds reads the feeds that users follow.
type RiverFeeds interface {
	Subscriptions(ctx context.Context, q river.SubscriptionQuery) ([]river.Followed, error)
	Find(ctx context.Context, reader, what string) (river.Followed, error)
	Following(ctx context.Context, reader string) (map[int64]bool, error)
	Refresh(ctx context.Context, id int64) (river.Check, error)
	CheckAllSoon(ctx context.Context, reader string) (due, all int, err error)
	Explain(ctx context.Context, id int64) (river.Explanation, error)
	RiverSubscriptions
}

// RiverSubscriptions adds, changes and removes followed feeds.
type RiverSubscriptions interface {
	Add(ctx context.Context, q river.Request) (river.Added, error)
	Remove(ctx context.Context, reader string, sources ...int64) error
	Change(ctx context.Context, reader string, source int64, change func(*river.Subscription) error) (river.Followed, error)
	SetLogin(ctx context.Context, reader string, source int64, l river.Login) (river.Followed, error)
	SetCNWS(ctx context.Context, reader string, source int64, hub string) (river.Followed, error)
	Revive(ctx context.Context, reader string, source int64) (river.Followed, error)
	Undo(ctx context.Context, reader string, source int64) (river.Followed, error)
}

// RiverItems finds items and marks them.
type RiverItems interface {
	Items(ctx context.Context, q river.ItemQuery) ([]river.Entry, error)
	Mark(ctx context.Context, reader string, ids []int64, read, starred *bool) (int, error)
	MarkAllRead(ctx context.Context, reader string, source int64, category string, to time.Time) error
	CountUnread(ctx context.Context, reader string) (map[int64]river.Unread, error)
	Listen(buffer int) *river.Listener
}

// RiverLists manages categories, reading lists and OPML.
type RiverLists interface {
	Categories(ctx context.Context, reader string, unread bool) ([]river.Category, error)
	PutCategory(ctx context.Context, reader, name string, public bool) error
	RenameCategory(ctx context.Context, reader, from, to string) error
	Import(ctx context.Context, reader string, doc io.Reader, o river.ImportOptions) (river.Imported, error)
	Export(ctx context.Context, reader, category string) (*opml.Document, error)
	ReadingLists(ctx context.Context, reader string) ([]river.ReadingList, error)
	DropReadingList(ctx context.Context, reader string, id int64, remove bool) error
}

// RiverForwardings manages the forwarding of items to mailboxes and webhooks.
type RiverForwardings interface {
	PutForwarding(ctx context.Context, n forward.Forwarding) (forward.Forwarding, error)
	Forwardings(ctx context.Context, reader string) ([]forward.Forwarding, error)
	DropForwarding(ctx context.Context, reader string, id int64) error
	TryForwarding(ctx context.Context, reader string, id int64) error
}

// riverAPI implements the endpoints for a user's river.
type riverAPI struct{ *Server }

// riverRoute is an endpoint of a river. The operator names the user in the parameter user. A
// program uses the river of its token's user and may also name that user.
type riverRoute struct {
	method, path string
	changes      bool // the endpoint changes the followed feeds, not only which items are read
	handle       func(riverAPI, *riverCall) error
}

// plainRiver wraps an endpoint whose only parameter is user.
func plainRiver(handle func(riverAPI, *riverCall) error) func(riverAPI, *riverCall) error {
	return func(s riverAPI, c *riverCall) error {
		if p := c.params(); p.Err != nil {
			return p.Err
		}
		return handle(s, c)
	}
}

func riverRoutes() []riverRoute {
	return []riverRoute{
		{"GET", "/v1/river", false, plainRiver((riverAPI).riverStatus)},
		{"GET", "/v1/sources", false, (riverAPI).sources},
		{"POST", "/v1/sources", true, plainRiver((riverAPI).addSource)},
		{"POST", "/v1/sources/refresh", false, plainRiver((riverAPI).refreshSources)},
		{"GET", "/v1/source", false, (riverAPI).sourceAt},
		{"GET", "/v1/sources/{id}", false, plainRiver((riverAPI).source)},
		{"PATCH", "/v1/sources/{id}", true, plainRiver((riverAPI).changeSource)},
		{"DELETE", "/v1/sources/{id}", true, plainRiver((riverAPI).removeSource)},
		{"POST", "/v1/sources/{id}/refresh", false, plainRiver((riverAPI).refreshSource)},
		{"POST", "/v1/sources/{id}/revive", true, plainRiver((riverAPI).reviveSource)},
		{"POST", "/v1/sources/{id}/undo", true, plainRiver((riverAPI).undoSource)},
		{"GET", "/v1/sources/{id}/explain", false, plainRiver((riverAPI).explainSource)},
		{"GET", "/v1/explain", false, (riverAPI).explainAt},
		{"GET", "/v1/people", false, (riverAPI).people},
		{"GET", "/v1/thread", false, (riverAPI).thread},
		{"GET", "/v1/items", false, (riverAPI).items},
		{"GET", "/v1/items/stream", false, (riverAPI).itemStream},
		{"GET", "/v1/items/{id}", false, plainRiver((riverAPI).item)},
		{"POST", "/v1/items/mark", false, plainRiver((riverAPI).markItems)},
		{"POST", "/v1/items/read", false, plainRiver((riverAPI).markAllRead)},
		{"GET", "/v1/categories", false, (riverAPI).categories},
		{"PUT", "/v1/categories", true, (riverAPI).putCategory},
		{"DELETE", "/v1/categories", true, (riverAPI).dropCategory},
		{"GET", "/v1/opml", false, (riverAPI).exportOPML},
		{"POST", "/v1/opml", true, (riverAPI).importOPML},
		{"GET", "/v1/lists", false, plainRiver((riverAPI).lists)},
		{"DELETE", "/v1/lists/{id}", true, (riverAPI).dropList},
		{"GET", "/v1/filters", false, plainRiver((riverAPI).filters)},
		{"PUT", "/v1/filters", true, plainRiver((riverAPI).putFilter)},
		{"POST", "/v1/filters/preview", false, plainRiver((riverAPI).previewFilter)},
		{"DELETE", "/v1/filters/{id}", true, plainRiver((riverAPI).dropFilter)},
		{"POST", "/v1/filters/{id}/move", true, (riverAPI).moveFilter},
		{"GET", "/v1/notices", false, plainRiver((riverAPI).forwardings)},
		{"PUT", "/v1/notices", true, plainRiver((riverAPI).putForwarding)},
		{"DELETE", "/v1/notices/{id}", true, plainRiver((riverAPI).dropForwarding)},
		{"POST", "/v1/notices/{id}/try", true, plainRiver((riverAPI).tryForwarding)},
	}
}

// riverCall is one request about one user's river.
type riverCall struct {
	w            http.ResponseWriter
	r            *http.Request
	reader       string
	public       bool         // the client is a program with a token, not the operator
	stillAllowed func() error // reports that the client is no longer authorized; nil: always authorized
}

func (c *riverCall) ctx() context.Context { return c.r.Context() }

// operatorRiver returns the routes for the operator, who names the user in the parameter user.
func (s *Server) operatorRiver() []operation {
	var list []operation
	for _, to := range riverRoutes() {
		list = append(list, operation{to.method, to.path, func(w http.ResponseWriter, r *http.Request) error {
			if s.River == nil {
				return fault.New(fault.Unsupported, "This server has no feed reader.")
			}
			c := &riverCall{w: w, r: r}
			var err error
			if c.reader, err = s.readerNamed(r); err != nil {
				return err
			}
			return to.handle(riverAPI{s}, c)
		}})
	}
	return list
}

// readerNamed returns the reader of the user that the parameter user names; "": the owner of the
// server's own river.
func (s *Server) readerNamed(r *http.Request) (string, error) {
	name := r.URL.Query().Get("user")
	if name == "" {
		return "", nil
	}
	if s.Options.Accounts == nil {
		return "", fault.New(fault.Unsupported, "This server has no users: remove user for its own river.")
	}
	u, err := s.Accounts.User(r.Context(), name)
	if err != nil {
		return "", err
	}
	return s.readerOf(u.Name), nil
}

// readerOf returns the name of the reader that owns the river of a user.
func (s *Server) readerOf(user string) string {
	if s.ReaderOf != nil {
		return s.ReaderOf(user)
	}
	return user
}

// params reads the query string, which may also contain the parameter user.
func (c *riverCall) params(known ...string) *exchange.Params {
	p := exchange.ReadParams(c.r, append(slices.Clip(known), "user")...)
	p.Text("user") // read again only to detect a repeated parameter
	return p
}

// id returns the ID in the path.
func (c *riverCall) id() (int64, error) {
	text := c.r.PathValue("id")
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, fault.New(fault.Invalid, "%q is not an id: it must be a number.", cut(text, 100))
	}
	return id, nil
}

// followed returns the source whose ID is in the path if the user follows it. A private feed is
// visible only to users who entered a login for it.
func (s riverAPI) followed(c *riverCall) (river.Followed, error) {
	id, err := c.id()
	if err != nil {
		return river.Followed{}, err
	}
	return s.River.Find(c.ctx(), c.reader, strconv.FormatInt(id, 10))
}

// sourceID returns the ID of a source. what is the ID or the URL of the source. If what is "", the
// result is 0.
func (s riverAPI) sourceID(c *riverCall, what string) (int64, error) {
	if what == "" {
		return 0, nil
	}
	f, err := s.River.Find(c.ctx(), c.reader, what)
	return f.Source.ID, err
}

// riverStatus sends the size of the river. It also sends the current activity if the client is the
// operator.
func (s riverAPI) riverStatus(c *riverCall) error {
	following, err := s.River.Following(c.ctx(), c.reader)
	if err != nil {
		return err
	}
	unread, err := s.River.CountUnread(c.ctx(), c.reader)
	if err != nil {
		return err
	}
	newest, err := s.River.Items(c.ctx(), river.ItemQuery{Reader: c.reader, BySeq: true, Bare: true, Limit: 1})
	if err != nil {
		return err
	}
	st := client.RiverStatus{Sources: int64(len(following))}
	for _, n := range unread {
		st.Unread += n.Items
	}
	if len(newest) > 0 {
		st.Seq = newest[0].Seq
	}
	if c.public {
		return exchange.OK(c.w, st)
	}
	n, err := s.River.Counts(c.ctx())
	if err != nil {
		return err
	}
	st.Live, st.Counts = form.RiverLive(s.River.Live()), form.RiverCounts(n)
	return exchange.OK(c.w, st)
}

// slowTimeout is the time limit of a response that depends on other servers.
const slowTimeout = 5 * time.Minute

// allowSlowResponse extends the write deadline to slowTimeout.
func (c *riverCall) allowSlowResponse() {
	// Ignore the error: a request in this process has no connection and no deadline.
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(slowTimeout))
}
