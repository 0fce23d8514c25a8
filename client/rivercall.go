package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
)

// River is one reader's river. Make it with [Client.River].
type River struct {
	c    *Client
	user string
}

// River is the river of a user; that of the server itself for "", or, with
// [Client.Token], that of the token's owner.
func (c *Client) River(user string) *River { return &River{c, user} }

// ID is a number that travels as text.
type ID int64

// MarshalJSON writes it as text.
func (id ID) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatInt(int64(id), 10)), nil
}

// UnmarshalJSON reads it from text.
func (id *ID) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return fmt.Errorf("an id is text, not %s", b)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return fmt.Errorf("%q is no id", text)
	}
	*id = ID(n)
	return nil
}

// values adds whose river it is.
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

// sourcesPage is how many sources one request asks for. They are not as cheap to go on
// with as other lists, so there are more of them.
const sourcesPage = 10_000

// Sources lists what is followed, in order of the titles.
func (r *River) Sources(ctx context.Context, q SourceQuery) iter.Seq2[Source, error] {
	v := r.values(nil)
	set(v, "match", q.Match)
	set(v, "category", q.Category)
	setTrue(v, "broken", q.Broken)
	setTrue(v, "unread", q.Unread)
	return pagesOf(sourcesPage, q.Limit, v, func(v url.Values) ([]Source, string, error) {
		var page struct {
			Sources []Source `json:"sources"`
			Next    string   `json:"next"`
		}
		err := r.c.call(ctx, "GET", "/v1/sources", v, nil, &page)
		return page.Sources, page.Next, err
	})
}

// Source is the source at a URL, or with an id in decimal. IsNotFound tells that it is
// not followed.
func (r *River) Source(ctx context.Context, what string) (Source, error) {
	var s Source
	err := r.call(ctx, "GET", "/v1/source", url.Values{"url": {what}}, nil, &s)
	return s, err
}

// AddSource follows a feed. When a page has several, nothing is added and the answer
// has Choices.
func (r *River) AddSource(ctx context.Context, q SourceRequest) (AddedSource, error) {
	var a AddedSource
	err := r.call(ctx, "POST", "/v1/sources", nil, q, &a)
	return a, err
}

// ChangeSource changes how a source is followed.
func (r *River) ChangeSource(ctx context.Context, id int64, c SourceChange) (Source, error) {
	var s Source
	err := r.call(ctx, "PATCH", "/v1/sources/"+decimal(id), nil, c, &s)
	return s, err
}

// RemoveSource ends following a source.
func (r *River) RemoveSource(ctx context.Context, id int64) (Source, error) {
	var out struct {
		Removed Source `json:"removed"`
	}
	err := r.call(ctx, "DELETE", "/v1/sources/"+decimal(id), nil, nil, &out)
	return out.Removed, err
}

// RefreshSource reads a source now. An [Error] with the code "too-many" says from when
// it may be read again.
func (r *River) RefreshSource(ctx context.Context, id int64) (Check, error) {
	var c Check
	err := r.call(ctx, "POST", "/v1/sources/"+decimal(id)+"/refresh", nil, nil, &c)
	return c, err
}

// ReviveSource has a source read again that is gone or failing.
func (r *River) ReviveSource(ctx context.Context, id int64) (Source, error) {
	var s Source
	err := r.call(ctx, "POST", "/v1/sources/"+decimal(id)+"/revive", nil, nil, &s)
	return s, err
}

// UndoSource takes a source back to the address that it was moved from.
func (r *River) UndoSource(ctx context.Context, id int64) (Source, error) {
	var s Source
	err := r.call(ctx, "POST", "/v1/sources/"+decimal(id)+"/undo", nil, nil, &s)
	return s, err
}

// Explain says why a source is checked when it is: the one at a URL, or with an id in
// decimal.
func (r *River) Explain(ctx context.Context, what string) (Explanation, error) {
	var e Explanation
	err := r.call(ctx, "GET", "/v1/explain", url.Values{"url": {what}}, nil, &e)
	return e, err
}

// Items lists items, the newest first unless the query says otherwise.
func (r *River) Items(ctx context.Context, q ItemQuery) iter.Seq2[Item, error] {
	v := r.values(q.values())
	if q.Since > 0 {
		v.Set("since", decimal(q.Since))
	}
	return pages(q.Limit, v, func(v url.Values) ([]Item, string, error) {
		var page struct {
			Items []Item `json:"items"`
			Next  string `json:"next"`
		}
		err := r.c.call(ctx, "GET", "/v1/items", v, nil, &page)
		return page.Items, page.Next, err
	})
}

// values are those that the list and the stream share.
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

// Item is one item.
func (r *River) Item(ctx context.Context, id int64) (Item, error) {
	var it Item
	err := r.call(ctx, "GET", "/v1/items/"+decimal(id), nil, nil, &it)
	return it, err
}

// Mark marks items and returns how many: items that the reader cannot see are left out.
func (r *River) Mark(ctx context.Context, m MarkRequest) (int, error) {
	var out struct {
		Marked int `json:"marked"`
	}
	err := r.call(ctx, "POST", "/v1/items/mark", nil, m, &out)
	return out.Marked, err
}

// MarkAllRead marks everything up to a moment as read.
func (r *River) MarkAllRead(ctx context.Context, q ReadRequest) error {
	return r.call(ctx, "POST", "/v1/items/read", nil, q, nil)
}

// Follow calls f with each item that comes or changes from now on, or that did after the
// Seq after, when that is not 0. What came in the five seconds before that Seq comes
// again: its ID and Seq tell. Of q only Source, Category, Starred, Unread and Match
// count. It ends as [Client.Follow] does.
func (r *River) Follow(ctx context.Context, q ItemQuery, after int64, f func(ItemEvent) error) error {
	header := http.Header{}
	if after > 0 {
		header.Set("Last-Event-ID", decimal(after))
	}
	v := ItemQuery{Source: q.Source, Category: q.Category, Starred: q.Starred, Unread: q.Unread, Match: q.Match}.values()
	return r.c.events(ctx, "/v1/items/stream", r.values(v), header, func(kind string, data []byte) error {
		e := ItemEvent{Kind: kind}
		if err := json.Unmarshal(data, &e.Item); err != nil {
			return fmt.Errorf("client: an item of the stream cannot be read: %w", err)
		}
		return f(e)
	})
}

// Categories lists categories, with what is unread in them when that is asked for.
func (r *River) Categories(ctx context.Context, unread bool) ([]Category, error) {
	v := url.Values{}
	setTrue(v, "unread", unread)
	var out struct {
		Categories []Category `json:"categories"`
	}
	err := r.call(ctx, "GET", "/v1/categories", v, nil, &out)
	return out.Categories, err
}

// PutCategory makes a category, or changes it.
func (r *River) PutCategory(ctx context.Context, name string, c CategoryChange) error {
	return r.call(ctx, "PUT", "/v1/categories", url.Values{"name": {name}}, c, nil)
}

// DropCategory removes a category; its sources stay followed.
func (r *River) DropCategory(ctx context.Context, name string) error {
	return r.call(ctx, "DELETE", "/v1/categories", url.Values{"name": {name}}, nil, nil)
}

// ExportOPML writes what is followed, or one category of it, as OPML.
func (r *River) ExportOPML(ctx context.Context, category string, w io.Writer) error {
	v := url.Values{}
	set(v, "category", category)
	res, err := r.c.send(ctx, "GET", "/v1/opml", r.values(v), http.Header{}, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(w, res.Body); err != nil {
		return fmt.Errorf("the list did not arrive whole: %w", err)
	}
	return nil
}

// ImportOPML follows the feeds of an OPML document: doc, or (doc nil) the one at o.URL.
// The feeds are read afterwards. With an error, ImportedOPML says what was imported before.
func (r *River) ImportOPML(ctx context.Context, doc io.Reader, o OPMLOptions) (ImportedOPML, error) {
	v := r.values(nil)
	set(v, "url", o.URL)
	set(v, "category", o.Category)
	setTrue(v, "follow", o.Follow)
	header, body := http.Header{}, io.Reader(nil)
	if doc != nil {
		// A plain reader hides what net/http would otherwise close on its own.
		body = struct{ io.Reader }{doc}
		header.Set("Content-Type", "text/x-opml")
	}
	res, err := r.c.send(ctx, "POST", "/v1/opml", v, header, body)
	if err != nil {
		return ImportedOPML{}, err
	}
	defer res.Body.Close()
	dec := json.NewDecoder(io.LimitReader(res.Body, maxAnswer))
	for {
		var step struct {
			Done   int           `json:"done"`
			Total  int           `json:"total"`
			Result *ImportedOPML `json:"result"`
			Error  *Error        `json:"error"`
		}
		if err := dec.Decode(&step); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return ImportedOPML{}, fmt.Errorf("the import broke off; running it again is safe: %w", err)
		}
		switch {
		case step.Error != nil:
			step.Error.Status = res.StatusCode
			if step.Result == nil {
				step.Result = &ImportedOPML{}
			}
			return *step.Result, step.Error
		case step.Result != nil:
			return *step.Result, nil
		case o.Progress != nil:
			o.Progress(step.Done, step.Total)
		}
	}
}

// Lists are the OPML documents that are followed.
func (r *River) Lists(ctx context.Context) ([]List, error) {
	var out struct {
		Lists []List `json:"lists"`
	}
	err := r.call(ctx, "GET", "/v1/lists", nil, nil, &out)
	return out.Lists, err
}

// DropList ends following a list. Its feeds stay, or go with it.
func (r *River) DropList(ctx context.Context, id int64, remove bool) error {
	v := url.Values{}
	setTrue(v, "remove", remove)
	return r.call(ctx, "DELETE", "/v1/lists/"+decimal(id), v, nil, nil)
}

// Notices are those of the reader.
func (r *River) Forwardings(ctx context.Context) ([]Forwarding, error) {
	var out struct {
		Forwardings []Forwarding `json:"notices"`
	}
	err := r.call(ctx, "GET", "/v1/notices", nil, nil, &out)
	return out.Forwardings, err
}

// PutNotice makes a notice, or changes one.
func (r *River) PutForwarding(ctx context.Context, n ForwardingRequest) (Forwarding, error) {
	var out Forwarding
	err := r.call(ctx, "PUT", "/v1/notices", nil, n, &out)
	return out, err
}

// DropNotice ends a notice.
func (r *River) DropForwarding(ctx context.Context, id int64) error {
	return r.call(ctx, "DELETE", "/v1/notices/"+decimal(id), nil, nil, nil)
}

// TryNotice sends the newest item at once; the error says what went wrong.
func (r *River) TryForwarding(ctx context.Context, id int64) error {
	return r.call(ctx, "POST", "/v1/notices/"+decimal(id)+"/try", nil, nil, nil)
}

// Status is how the river is.
func (r *River) Status(ctx context.Context) (RiverStatus, error) {
	var s RiverStatus
	err := r.call(ctx, "GET", "/v1/river", nil, nil, &s)
	return s, err
}
