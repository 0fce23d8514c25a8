package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
)

// River calls the endpoints for the river of one user. [Client.River] creates it.
type River struct {
	c    *Client
	user string
}

// River returns the river of a user. If user is "", it returns the river of the token's owner if
// [Client.Token] is set, otherwise the server's own river. With a token, user is "" or the token's
// owner; another user is an error with the status 403.
func (c *Client) River(user string) *River { return &River{c, user} }

// ID is a number that JSON represents as a string.
type ID int64

// MarshalJSON encodes the ID as a decimal string.
func (id ID) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatInt(int64(id), 10)), nil
}

// UnmarshalJSON decodes a decimal string. The number must be positive.
func (id *ID) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return fmt.Errorf("invalid id %s: must be a string", b)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return fmt.Errorf("invalid id %q: must be a positive decimal number", text)
	}
	*id = ID(n)
	return nil
}

// values returns v with the user of the river.
func (r *River) values(v url.Values) url.Values {
	if v == nil {
		v = url.Values{}
	}
	set(v, "user", r.user)
	return v
}

func (r *River) call(ctx context.Context, method, path string, v url.Values, in, out any) error {
	return r.c.call(ctx, method, path, r.values(v), in, out)
}

func decimal(id int64) string { return strconv.FormatInt(id, 10) }

func setTrue(v url.Values, key string, on bool) {
	if on {
		v.Set(key, "true")
	}
}

// sourcesPage is the number of sources per request. Each further request for a list of sources is
// expensive, so the pages are larger than the pages of other lists.
const sourcesPage = 10_000

// Sources lists the followed feeds, sorted by title.
func (r *River) Sources(ctx context.Context, q SourceQuery) iter.Seq2[Source, error] {
	v := r.values(nil)
	set(v, "match", q.Match)
	set(v, "category", q.Category)
	setTrue(v, "broken", q.Broken)
	setTrue(v, "unread", q.Unread)
	return pagesOf[Source](ctx, r.c, "/v1/sources", v, "sources", q.Limit, sourcesPage)
}

// Source returns the source with the given URL or decimal ID. If the user does not follow the feed,
// [IsNotFound] reports true for the error.
func (r *River) Source(ctx context.Context, what string) (Source, error) {
	return answer[Source](ctx, r.c, "GET", "/v1/source", r.values(url.Values{"url": {what}}), nil)
}

// AddSource follows a feed. If the URL is that of a page with several feeds, AddSource adds
// nothing, and the result has Choices.
func (r *River) AddSource(ctx context.Context, q SourceRequest) (AddedSource, error) {
	return answer[AddedSource](ctx, r.c, "POST", "/v1/sources", r.values(nil), q)
}

// ChangeSource changes the settings of a source.
func (r *River) ChangeSource(ctx context.Context, id int64, c SourceChange) (Source, error) {
	return answer[Source](ctx, r.c, "PATCH", "/v1/sources/"+decimal(id), r.values(nil), c)
}

// RemoveSource stops following a source. It returns the removed source.
func (r *River) RemoveSource(ctx context.Context, id int64) (Source, error) {
	return memberOf[Source](ctx, r.c, "DELETE", "/v1/sources/"+decimal(id), r.values(nil), nil, "removed")
}

// RefreshSource makes the server read a source now. If the server has read the source too recently,
// the error is an [*Error] with the code too-many; RetryAfter is the time until the source can be
// read again.
func (r *River) RefreshSource(ctx context.Context, id int64) (Check, error) {
	return answer[Check](ctx, r.c, "POST", "/v1/sources/"+decimal(id)+"/refresh", r.values(nil), nil)
}

// RefreshSources makes all sources due, except sources that must not be read yet. It does not wait
// until the server has read them.
func (r *River) RefreshSources(ctx context.Context) (RefreshedSources, error) {
	return answer[RefreshedSources](ctx, r.c, "POST", "/v1/sources/refresh", r.values(nil), nil)
}

// ReviveSource makes the server read a gone or failing source again.
func (r *River) ReviveSource(ctx context.Context, id int64) (Source, error) {
	return answer[Source](ctx, r.c, "POST", "/v1/sources/"+decimal(id)+"/revive", r.values(nil), nil)
}

// UndoSource reverts the last move of a source: the source gets its earlier URL again.
func (r *River) UndoSource(ctx context.Context, id int64) (Source, error) {
	return answer[Source](ctx, r.c, "POST", "/v1/sources/"+decimal(id)+"/undo", r.values(nil), nil)
}

// Explain explains the check schedule of the source with the given URL or decimal ID.
func (r *River) Explain(ctx context.Context, what string) (Explanation, error) {
	return answer[Explanation](ctx, r.c, "GET", "/v1/explain", r.values(url.Values{"url": {what}}), nil)
}

// Items lists items, newest first unless the query has another order.
func (r *River) Items(ctx context.Context, q ItemQuery) iter.Seq2[Item, error] {
	v := r.values(q.values())
	if q.Since > 0 {
		v.Set("since", decimal(q.Since))
	}
	return pages[Item](ctx, r.c, "/v1/items", v, "items", q.Limit)
}

// values returns the parameters that the list of items and the stream of items have in common.
func (q ItemQuery) values() url.Values {
	v := url.Values{}
	set(v, "source", q.Source)
	set(v, "category", q.Category)
	setTrue(v, "starred", q.Starred)
	setTrue(v, "unread", q.Unread)
	set(v, "q", q.Match)
	setTime(v, "from", q.From)
	setTime(v, "to", q.To)
	setTrue(v, "oldest", q.Oldest)
	return v
}

// Item returns one item.
func (r *River) Item(ctx context.Context, id int64) (Item, error) {
	return answer[Item](ctx, r.c, "GET", "/v1/items/"+decimal(id), r.values(nil), nil)
}

// Mark marks items and returns the number of marked items. It skips items that the user cannot see.
func (r *River) Mark(ctx context.Context, m MarkRequest) (int, error) {
	return memberOf[int](ctx, r.c, "POST", "/v1/items/mark", r.values(nil), m, "marked")
}

// MarkAllRead marks all items up to a time as read.
func (r *River) MarkAllRead(ctx context.Context, q ReadRequest) error {
	return r.call(ctx, "POST", "/v1/items/read", nil, q, nil)
}

// Follow calls f with each new or changed item. If after is not 0, Follow starts with the items
// that changed after this Seq. Items from the five seconds before that Seq can occur again; compare
// ID and Seq to recognize them. Of q, only Source, Category, Starred, Unread and Match are used.
// Follow returns under the same conditions as [Client.Follow].
func (r *River) Follow(ctx context.Context, q ItemQuery, after int64, f func(ItemEvent) error) error {
	header := http.Header{}
	if after > 0 {
		header.Set("Last-Event-ID", decimal(after))
	}
	v := ItemQuery{Source: q.Source, Category: q.Category, Starred: q.Starred, Unread: q.Unread, Match: q.Match}.values()
	return r.c.events(ctx, "/v1/items/stream", r.values(v), header, func(kind string, data []byte) error {
		e := ItemEvent{Kind: kind}
		if err := json.Unmarshal(data, &e.Item); err != nil {
			return fmt.Errorf("client: cannot decode an item of the stream: %w", err)
		}
		return f(e)
	})
}

// Categories lists the user's categories, with the number of unread items if unread is true.
func (r *River) Categories(ctx context.Context, unread bool) ([]Category, error) {
	v := url.Values{}
	setTrue(v, "unread", unread)
	return memberOf[[]Category](ctx, r.c, "GET", "/v1/categories", r.values(v), nil, "categories")
}

// PutCategory creates or changes a category.
func (r *River) PutCategory(ctx context.Context, name string, c CategoryChange) error {
	return r.call(ctx, "PUT", "/v1/categories", url.Values{"name": {name}}, c, nil)
}

// DropCategory removes a category. Its sources are still followed.
func (r *River) DropCategory(ctx context.Context, name string) error {
	return r.call(ctx, "DELETE", "/v1/categories", url.Values{"name": {name}}, nil, nil)
}

// ExportOPML writes the followed feeds as OPML to w. If category is not "", only feeds of that
// category are included.
func (r *River) ExportOPML(ctx context.Context, category string, w io.Writer) error {
	v := url.Values{}
	set(v, "category", category)
	res, err := r.c.send(ctx, "GET", "/v1/opml", r.values(v), http.Header{}, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(w, res.Body); err != nil {
		return fmt.Errorf("the OPML document is incomplete: %w", err)
	}
	return nil
}

// ImportOPML follows the feeds of an OPML document. The document is doc or, if doc is nil, the
// document at o.URL. The server reads the feeds afterwards. After an error, ImportedOPML describes
// the feeds that were imported before the error.
func (r *River) ImportOPML(ctx context.Context, doc io.Reader, o OPMLOptions) (ImportedOPML, error) {
	v := r.values(nil)
	set(v, "url", o.URL)
	set(v, "category", o.Category)
	setTrue(v, "follow", o.Follow)
	header, body := http.Header{}, io.Reader(nil)
	if doc != nil {
		// Hide the type of doc, so that net/http does not close the caller's reader.
		body = struct{ io.Reader }{doc}
		header.Set("Content-Type", "text/x-opml")
	}
	res, err := r.c.send(ctx, "POST", "/v1/opml", v, header, body)
	if err != nil {
		return ImportedOPML{}, err
	}
	defer res.Body.Close()
	return steps(res, func(at step[ImportedOPML]) {
		if o.Progress != nil {
			o.Progress(at.Done, at.Total)
		}
	})
}

// Lists returns the user's reading lists.
func (r *River) Lists(ctx context.Context) ([]List, error) {
	return memberOf[[]List](ctx, r.c, "GET", "/v1/lists", r.values(nil), nil, "lists")
}

// DropList stops following a reading list. If remove is true, its feeds are removed too.
func (r *River) DropList(ctx context.Context, id int64, remove bool) error {
	v := url.Values{}
	setTrue(v, "remove", remove)
	return r.call(ctx, "DELETE", "/v1/lists/"+decimal(id), v, nil, nil)
}

// Filters returns the user's filters in the order in which they run.
func (r *River) Filters(ctx context.Context) ([]Filter, error) {
	return memberOf[[]Filter](ctx, r.c, "GET", "/v1/filters", r.values(nil), nil, "filters")
}

// PutFilter creates or changes a filter.
func (r *River) PutFilter(ctx context.Context, f FilterRequest) (Filter, error) {
	return answer[Filter](ctx, r.c, "PUT", "/v1/filters", r.values(nil), f)
}

// PreviewFilter returns those of the last 200 items that a filter would match. It saves nothing.
func (r *River) PreviewFilter(ctx context.Context, f FilterRequest) (FilterPreview, error) {
	return answer[FilterPreview](ctx, r.c, "POST", "/v1/filters/preview", r.values(nil), f)
}

// DropFilter deletes a filter.
func (r *River) DropFilter(ctx context.Context, id int64) error {
	return r.call(ctx, "DELETE", "/v1/filters/"+decimal(id), nil, nil, nil)
}

// MoveFilter moves a filter one position up or down (later) in the order of execution. It returns
// the filters in the new order.
func (r *River) MoveFilter(ctx context.Context, id int64, later bool) ([]Filter, error) {
	v := url.Values{"to": {"earlier"}}
	if later {
		v.Set("to", "later")
	}
	return memberOf[[]Filter](ctx, r.c, "POST", "/v1/filters/"+decimal(id)+"/move", r.values(v), nil, "filters")
}

// Forwardings returns the user's forwardings.
func (r *River) Forwardings(ctx context.Context) ([]Forwarding, error) {
	return memberOf[[]Forwarding](ctx, r.c, "GET", "/v1/notices", r.values(nil), nil, "notices")
}

// PutForwarding creates or changes a forwarding.
func (r *River) PutForwarding(ctx context.Context, n ForwardingRequest) (Forwarding, error) {
	return answer[Forwarding](ctx, r.c, "PUT", "/v1/notices", r.values(nil), n)
}

// DropForwarding removes a forwarding.
func (r *River) DropForwarding(ctx context.Context, id int64) error {
	return r.call(ctx, "DELETE", "/v1/notices/"+decimal(id), nil, nil, nil)
}

// TryForwarding sends the newest item now. It returns an error if the delivery fails.
func (r *River) TryForwarding(ctx context.Context, id int64) error {
	return r.call(ctx, "POST", "/v1/notices/"+decimal(id)+"/try", nil, nil, nil)
}

// Status returns the state of the river.
func (r *River) Status(ctx context.Context) (RiverStatus, error) {
	return answer[RiverStatus](ctx, r.c, "GET", "/v1/river", r.values(nil), nil)
}
