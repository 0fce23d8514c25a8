package api

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/client"
	"cloudburst/feed/opml"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
)

// River holds the feeds that users follow and their items; *river.River is one.
type River interface {
	RiverFeeds
	RiverItems
	RiverLists
	RiverForwardings
	Counts(ctx context.Context) (river.SourceCounts, error)
	Live() river.Live
}

// RiverFeeds finds and changes the feeds that users follow.
type RiverFeeds interface {
	Subscriptions(ctx context.Context, q river.SubscriptionQuery) ([]river.Followed, error)
	Find(ctx context.Context, reader, what string) (river.Followed, error)
	Following(ctx context.Context, reader string) (map[int64]bool, error)
	Refresh(ctx context.Context, id int64) (river.Check, error)
	Explain(ctx context.Context, id int64) (river.Explanation, error)
	RiverSubscriptions
}

// RiverSubscriptions adds, changes and removes what a user follows.
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

// RiverLists holds categories, reading lists and OPML.
type RiverLists interface {
	Categories(ctx context.Context, reader string, unread bool) ([]river.Category, error)
	PutCategory(ctx context.Context, reader, name string, public bool) error
	RenameCategory(ctx context.Context, reader, from, to string) error
	Import(ctx context.Context, reader string, doc io.Reader, o river.ImportOptions) (river.Imported, error)
	Export(ctx context.Context, reader, category string) (*opml.Document, error)
	ReadingLists(ctx context.Context, reader string) ([]river.ReadingList, error)
	DropReadingList(ctx context.Context, reader string, id int64, remove bool) error
}

// RiverNotices holds what is forwarded to mailboxes and webhooks.
type RiverForwardings interface {
	PutForwarding(ctx context.Context, n forward.Forwarding) (forward.Forwarding, error)
	Forwardings(ctx context.Context, reader string) ([]forward.Forwarding, error)
	DropForwarding(ctx context.Context, reader string, id int64) error
	TryForwarding(ctx context.Context, reader string, id int64) error
}

// riverAPI answers requests about a reader's river.
type riverAPI struct{ *Server }

// riverRoute is an endpoint of a river. It is the same for the operator, who says whose, and
// for the program of a reader, whose token does.
type riverRoute struct {
	method, path string
	changes      bool // what is followed, not only what was read
	handle       func(riverAPI, *riverCall) error
}

func riverRoutes() []riverRoute {
	return []riverRoute{
		{"GET", "/v1/river", false, (riverAPI).riverStatus},
		{"GET", "/v1/sources", false, (riverAPI).sources},
		{"POST", "/v1/sources", true, (riverAPI).addSource},
		{"GET", "/v1/source", false, (riverAPI).sourceAt},
		{"GET", "/v1/sources/{id}", false, (riverAPI).source},
		{"PATCH", "/v1/sources/{id}", true, (riverAPI).changeSource},
		{"DELETE", "/v1/sources/{id}", true, (riverAPI).removeSource},
		{"POST", "/v1/sources/{id}/refresh", false, (riverAPI).refreshSource},
		{"POST", "/v1/sources/{id}/revive", true, (riverAPI).reviveSource},
		{"POST", "/v1/sources/{id}/undo", true, (riverAPI).undoSource},
		{"GET", "/v1/sources/{id}/explain", false, (riverAPI).explainSource},
		{"GET", "/v1/explain", false, (riverAPI).explainAt},
		{"GET", "/v1/items", false, (riverAPI).items},
		{"GET", "/v1/items/stream", false, (riverAPI).itemStream},
		{"GET", "/v1/items/{id}", false, (riverAPI).item},
		{"POST", "/v1/items/mark", false, (riverAPI).markItems},
		{"POST", "/v1/items/read", false, (riverAPI).markAllRead},
		{"GET", "/v1/categories", false, (riverAPI).categories},
		{"PUT", "/v1/categories", true, (riverAPI).putCategory},
		{"DELETE", "/v1/categories", true, (riverAPI).dropCategory},
		{"GET", "/v1/opml", false, (riverAPI).exportOPML},
		{"POST", "/v1/opml", true, (riverAPI).importOPML},
		{"GET", "/v1/lists", false, (riverAPI).lists},
		{"DELETE", "/v1/lists/{id}", true, (riverAPI).dropList},
		{"GET", "/v1/notices", false, (riverAPI).notices},
		{"PUT", "/v1/notices", true, (riverAPI).putNotice},
		{"DELETE", "/v1/notices/{id}", true, (riverAPI).dropNotice},
		{"POST", "/v1/notices/{id}/try", true, (riverAPI).tryNotice},
	}
}

// riverCall is one request about one reader's river.
type riverCall struct {
	w      http.ResponseWriter
	r      *http.Request
	reader string
	public bool         // not the operator
	still  func() error // whether whoever asked still may; nil: always
}

func (c *riverCall) ctx() context.Context { return c.r.Context() }

// operatorRiver are the routes as the operator has them: user says whose river.
func (s *Server) operatorRiver() []operation {
	var list []operation
	for _, door := range riverRoutes() {
		list = append(list, operation{door.method, door.path, func(w http.ResponseWriter, r *http.Request) error {
			if s.River == nil {
				return fault.New(fault.Unsupported, "This server reads no feeds for anybody.")
			}
			c := &riverCall{w: w, r: r}
			var err error
			if c.reader, err = s.readerNamed(r); err != nil {
				return err
			}
			return door.handle(riverAPI{s}, c)
		}})
	}
	return list
}

// readerNamed is the reader that the parameter user names; without it, the server's own.
func (s *Server) readerNamed(r *http.Request) (string, error) {
	name := r.URL.Query().Get("user")
	if name == "" {
		return "", nil
	}
	if s.Options.Accounts == nil {
		return "", fault.New(fault.Unsupported, "This server has no users; leave user out for its own river.")
	}
	u, err := s.Accounts.User(r.Context(), name)
	if err != nil {
		return "", err
	}
	return s.readerOf(u.Name), nil
}

// readerOf is under which name the river knows a user.
func (s *Server) readerOf(user string) string {
	if s.ReaderOf != nil {
		return s.ReaderOf(user)
	}
	return user
}

// params reads the query string; the operator may say in it whose river is meant.
func (c *riverCall) params(known ...string) *params {
	if !c.public {
		known = append(slices.Clip(known), "user")
	}
	p := readParams(c.r, known...)
	if !c.public {
		p.text("user") // twice is an error
	}
	return p
}

// id is the number in the path.
func (c *riverCall) id() (int64, error) {
	text := c.r.PathValue("id")
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, fault.New(fault.Invalid, "%q is no id: it needs a number.", cut(text, 100))
	}
	return id, nil
}

// followed is the source in the path, if the reader follows it. What others read with
// a login of theirs is nobody else's business.
func (s riverAPI) followed(c *riverCall) (river.Followed, error) {
	id, err := c.id()
	if err != nil {
		return river.Followed{}, err
	}
	return s.River.Find(c.ctx(), c.reader, strconv.FormatInt(id, 10))
}

// sourceID is the id of the source that a parameter or field names, by id or URL; 0 when
// it names none.
func (s riverAPI) sourceID(c *riverCall, what string) (int64, error) {
	if what == "" {
		return 0, nil
	}
	f, err := s.River.Find(c.ctx(), c.reader, what)
	return f.Source.ID, err
}

// riverStatus says how much there is and, to the operator, what is going on.
func (s riverAPI) riverStatus(c *riverCall) error {
	if p := c.params(); p.err != nil {
		return p.err
	}
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
		return ok(c.w, st)
	}
	n, err := s.River.Counts(c.ctx())
	if err != nil {
		return err
	}
	st.Live, st.Counts = riverLiveOf(s.River.Live()), riverCountsOf(n)
	return ok(c.w, st)
}

// patience is how long an answer may take that waits for other servers.
const patience = 5 * time.Minute

// takeTime lets the answer take long.
func (c *riverCall) takeTime() {
	// Without a connection (in process) there is no deadline to set.
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(patience))
}

// fitText bounds a text of a request: what is too long for a name is a mistake.
func fitText(name, text string, most int) error {
	switch {
	case len(text) > most:
		return fault.New(fault.Invalid, "%s has %d bytes; at most %d are taken.", name, len(text), most)
	case strings.ContainsRune(text, 0):
		return fault.New(fault.Invalid, "%s has a character in it that no text has (U+0000).", name)
	}
	return nil
}
