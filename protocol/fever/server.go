package fever

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"log/slog"
	"math"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/date"
	"cloudburst/internal/wirehttp"
)

// Backend implements a server. user is the result of User. An [*Error] sets the response.
// Any other error becomes status 500 with a sentence that reveals nothing of the error.
// Methods get the request from [RequestFrom].
type Backend interface {
	ItemBackend
	MarkBackend
}

// ItemBackend stores the subscriptions and items of users.
type ItemBackend interface {
	// User returns the user of a key of 32 lowercase hexadecimal digits. The error is
	// ErrKey for an unknown key.
	User(ctx context.Context, key string) (user string, err error)
	// Lists returns the user's groups and feeds, and the feeds of each group.
	Lists(ctx context.Context, user string) ([]Group, []Feed, []FeedsGroup, error)
	// Favicons returns the icons of the user's feeds.
	Favicons(ctx context.Context, user string) ([]Favicon, error)
	// Items returns the items that q selects, at most [MaxItems].
	Items(ctx context.Context, user string, q Query) ([]Item, error)
	// Total returns the number of all items of the user.
	Total(ctx context.Context, user string) (int64, error)
	// Unread and Saved return the numbers of all unread and of all saved items.
	Unread(ctx context.Context, user string) (IDs, error)
	Saved(ctx context.Context, user string) (IDs, error)
}

// MarkBackend marks items for a user.
type MarkBackend interface {
	// Mark marks an item. A mark that is nil does not change. An unknown item is ignored.
	Mark(ctx context.Context, user string, item int64, read, saved *bool) error
	// MarkFeed and MarkGroup mark the items of a feed or of a group as read that arrived
	// before a time (zero: all items). Group 0 contains all feeds.
	MarkFeed(ctx context.Context, user string, feed int32, before time.Time) error
	MarkGroup(ctx context.Context, user string, group int32, before time.Time) error
	// UnreadRecent marks the recently read items as unread.
	UnreadRecent(ctx context.Context, user string) error
}

// Handler serves the API at any path.
type Handler struct {
	Backend Backend
	Log     *slog.Logger     // internal failures; nil: no log
	Now     func() time.Time // nil: time.Now
}

// RequestFrom returns the HTTP request on whose behalf a method of [Backend] is called. It
// is nil outside of these calls.
func RequestFrom(ctx context.Context) *http.Request { return wirehttp.RequestFrom(ctx) }

// call is the processing of one request.
type call struct {
	*Handler
	ctx     context.Context
	user    string
	form    url.Values
	invalid bool // some parameters are invalid
	answer  Response
}

// ServeHTTP serves one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Cache-Control", "private, no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost {
		head.Set("Allow", "GET, HEAD, POST")
		http.Error(w, "This URL accepts GET and POST.", http.StatusMethodNotAllowed)
		return
	}
	c := &call{Handler: h, ctx: wirehttp.WithRequest(r.Context(), r), answer: Response{Version: Version}}
	err := c.read(w, r)
	if err == nil {
		err = c.serve()
	}
	status := http.StatusOK
	if err != nil {
		status = c.refuse(head, err)
	}
	c.write(w, status)
}

// read reads the parameters. Values of the body come first.
func (c *call) read(w http.ResponseWriter, r *http.Request) error {
	c.form = url.Values{}
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
		if err != nil {
			return &Error{Status: http.StatusRequestEntityTooLarge, Msg: "The body is incomplete or larger than 1 MiB."}
		}
		if boundary, ok := multipartOf(r.Header.Get("Content-Type")); ok {
			err = c.readParts(string(body), boundary)
		} else {
			var parseErr error // after a parse error, valid parameters select data, but the request changes nothing
			c.form, parseErr = url.ParseQuery(strings.TrimSpace(string(body)))
			c.invalid = parseErr != nil
		}
		if err != nil {
			return err
		}
	}
	query, parseErr := url.ParseQuery(r.URL.RawQuery)
	c.invalid = c.invalid || parseErr != nil
	for name, list := range query {
		c.form[name] = append(c.form[name], list...)
	}
	return nil
}

// multipartOf returns the boundary of a multipart body.
func multipartOf(contentType string) (boundary string, ok bool) {
	kind, params, err := mime.ParseMediaType(contentType)
	return params["boundary"], err == nil && kind == "multipart/form-data"
}

// serve executes the request.
func (c *call) serve() error {
	key := strings.ToLower(strings.TrimSpace(c.form.Get("api_key")))
	if key == "" {
		return nil // the response has auth 0, by which apps detect the API
	}
	var err error
	if c.user, err = c.Backend.User(c.ctx, key); err != nil {
		if errors.Is(err, ErrKey) {
			return nil
		}
		return err
	}
	c.answer.Auth = 1
	c.answer.Refreshed = c.now().Unix()
	for _, do := range []func() error{c.mark, c.lists, c.favicons, c.items, c.states} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) now() time.Time {
	return date.Now(c.Now)
}

// requests reports whether a parameter is present, with any value.
func (c *call) requests(name string) bool { return c.form.Has(name) }

func (c *call) lists() error {
	if !c.requests("groups") && !c.requests("feeds") {
		return nil
	}
	groups, feeds, relations, err := c.Backend.Lists(c.ctx, c.user)
	if err != nil {
		return err
	}
	if c.requests("groups") {
		c.answer.Groups = list(groups)
	}
	if c.requests("feeds") {
		c.answer.Feeds = list(feeds)
	}
	c.answer.FeedsGroups = list(relations)
	return nil
}

// list returns l, or an empty list instead of nil.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

func (c *call) favicons() error {
	if c.requests("links") {
		c.answer.Links = []struct{}{}
	}
	if !c.requests("favicons") {
		return nil
	}
	icons, err := c.Backend.Favicons(c.ctx, c.user)
	c.answer.Favicons = list(icons)
	return err
}

func (c *call) items() error {
	if !c.requests("items") {
		return nil
	}
	items, err := c.Backend.Items(c.ctx, c.user, c.query())
	if err != nil {
		return err
	}
	total, err := c.Backend.Total(c.ctx, c.user)
	c.answer.Items, c.answer.Total = list(items), &total
	return err
}

// query parses the selection of items.
//
// spec:fever-2011#items
func (c *call) query() Query {
	q := Query{Feeds: small(c.form.Get("feed_ids")), Groups: small(c.form.Get("group_ids"))}
	switch {
	case c.requests("with_ids"):
		q.IDs = ParseIDs(c.form.Get("with_ids"), MaxItems)
		if len(q.IDs) == 0 {
			q.IDs = []int64{0} // matches no item
		}
	case c.requests("max_id"):
		q.Newest = true
		q.Max = number(c.form.Get("max_id"))
	default:
		q.Since = number(c.form.Get("since_id"))
	}
	return q
}

func number(s string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if errors.Is(err, strconv.ErrRange) && n > 0 {
		return math.MaxInt64
	}
	return max(n, 0)
}

// small parses numbers of feeds or groups. If none is valid, the result is -1, which
// matches nothing.
func small(s string) []int32 {
	var out []int32
	if s == "" {
		return nil
	}
	for _, id := range ParseIDs(s, 10_000) {
		if id <= math.MaxInt32 {
			out = append(out, int32(id))
		}
	}
	if out == nil {
		return []int32{-1}
	}
	return out
}

// states adds the requested lists of unread and of saved items to the response.
func (c *call) states() error {
	if c.requests("unread_item_ids") && c.answer.UnreadItems == nil {
		if err := c.unread(); err != nil {
			return err
		}
	}
	if c.requests("saved_item_ids") && c.answer.SavedItems == nil {
		return c.saved()
	}
	return nil
}

func (c *call) unread() error {
	ids, err := c.Backend.Unread(c.ctx, c.user)
	c.answer.UnreadItems = &ids
	return err
}

func (c *call) saved() error {
	ids, err := c.Backend.Saved(c.ctx, c.user)
	c.answer.SavedItems = &ids
	return err
}

// mark executes a change and adds the changed list to the response.
//
// spec:fever-2011#mark
func (c *call) mark() error {
	if c.form.Get("unread_recently_read") == "1" {
		if err := c.Backend.UnreadRecent(c.ctx, c.user); err != nil {
			return err
		}
		return c.unread()
	}
	what, as := strings.ToLower(c.form.Get("mark")), strings.ToLower(c.form.Get("as"))
	if what == "" {
		return nil
	}
	if c.invalid {
		return &Error{Status: http.StatusBadRequest, Msg: "The request has invalid parameters; nothing was marked."}
	}
	id, err := strconv.ParseInt(strings.TrimSpace(c.form.Get("id")), 10, 64)
	if err != nil {
		return &Error{Status: http.StatusBadRequest, Msg: "The id must be a number."}
	}
	yes, no := true, false
	switch what + " " + as {
	case "item read":
		err = c.Backend.Mark(c.ctx, c.user, id, &yes, nil)
	case "item unread":
		err = c.Backend.Mark(c.ctx, c.user, id, &no, nil)
	case "item saved":
		err = c.Backend.Mark(c.ctx, c.user, id, nil, &yes)
	case "item unsaved":
		err = c.Backend.Mark(c.ctx, c.user, id, nil, &no)
	case "feed read", "group read":
		err = c.markMany(what, id)
	default:
		return &Error{Status: http.StatusBadRequest, Msg: "The mark is invalid: mark an item as read, unread, saved or unsaved, or a feed or a group as read."}
	}
	switch {
	case err != nil:
		return err
	case strings.HasSuffix(as, "saved"):
		return c.saved()
	}
	return c.unread()
}

func (c *call) markMany(what string, id int64) error {
	var before time.Time
	if text := strings.TrimSpace(c.form.Get("before")); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) || n < 0 {
			return &Error{Status: http.StatusBadRequest, Msg: "The time in before is invalid."}
		}
		if n > 0 && n < 1e11 {
			before = time.Unix(n, 0).UTC()
		}
	}
	switch {
	case id == -1 && what == "group": // the group of Sparks, which are not supported
		return nil
	case id < 0, id == 0 && what == "feed", id > math.MaxInt32:
		return nil // the feed or group does not exist
	case what == "feed":
		return c.Backend.MarkFeed(c.ctx, c.user, int32(id), before)
	}
	return c.Backend.MarkGroup(c.ctx, c.user, int32(id), before)
}

// refuse converts an error to a response and returns its status.
func (c *call) refuse(head http.Header, err error) int {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		if c.Log != nil && !errors.Is(err, context.Canceled) {
			c.Log.ErrorContext(c.ctx, "fever", "err", err)
		}
		e = &Error{Status: http.StatusInternalServerError, Msg: "Something went wrong on this server; please try again later."}
	}
	if e.RetryAfter > 0 {
		head.Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
	}
	c.answer = Response{Version: Version, Auth: c.answer.Auth, Refreshed: c.answer.Refreshed, ErrorMessage: e.Msg}
	return e.Status
}

// write writes the response, in XML if requested.
func (c *call) write(w http.ResponseWriter, status int) {
	if c.form.Get("api") == "xml" {
		w.Header().Set("Content-Type", "text/xml; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, xml.Header) // an error means that the client has disconnected
		_ = xml.NewEncoder(w).Encode(&c.answer)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(&c.answer)
}
