package greader

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

func (c *call) subscriptions() error {
	if err := c.jsonOnly(); err != nil {
		return err
	}
	list, err := c.Backend.Subscriptions(c.ctx, c.user)
	if err != nil {
		return err
	}
	if list == nil {
		list = []Subscription{}
	}
	return c.json(map[string]any{"subscriptions": list})
}

// change is what subscription/edit changes in one subscription.
type change struct {
	feed  Stream
	title string
}

// edit subscribes, unsubscribes, renames and labels. It pairs each parameter s with the parameter t
// at the same position.
func (c *call) edit() error {
	if err := c.checkToken(); err != nil {
		return err
	}
	changes, err := c.changes()
	if err != nil {
		return err
	}
	add, err := labels(c.form["a"])
	if err != nil {
		return err
	}
	remove, err := labels(c.form["r"])
	if err != nil {
		return err
	}
	switch c.form.get("ac") {
	case "subscribe":
		return c.done(c.subscribe(changes, add))
	case "unsubscribe":
		var feeds []Stream
		for _, ch := range changes {
			feeds = append(feeds, ch.feed)
		}
		return c.done(c.Backend.Unsubscribe(c.ctx, c.user, feeds))
	case "edit":
		for _, ch := range changes {
			if err := c.Backend.EditSubscription(c.ctx, c.user, ch.feed, ch.title, add, remove); err != nil {
				return err
			}
		}
		return c.plain("OK")
	}
	return invalid("Send the action as ac: subscribe, unsubscribe or edit.")
}

func (c *call) changes() ([]change, error) {
	streams, titles := c.form["s"], c.form["t"]
	if len(streams) == 0 || len(streams) > maxFeeds {
		return nil, invalid("Send the feeds as s, at most 1,000.")
	}
	var list []change
	for i, s := range streams {
		feed, err := ParseStream(s)
		if err != nil || feed.Kind != KindFeed {
			return nil, invalid("Not a feed: " + clip(s))
		}
		ch := change{feed: feed}
		if i < len(titles) {
			if ch.title = strings.TrimSpace(titles[i]); len(ch.title) > maxTitle {
				return nil, invalid("The title is too long.")
			}
		}
		list = append(list, ch)
	}
	return list, nil
}

// labels returns the labels in a or r of subscription/edit. States are ignored.
func labels(list []string) (names []string, err error) {
	for _, s := range list {
		if s == "" || s == Label("").String() { // ignore a folder without a name
			continue
		}
		stream, err := ParseStream(s)
		if err != nil || stream.Kind == KindFeed {
			return nil, invalid("Not a label: " + clip(s))
		}
		if stream.Kind == KindLabel {
			names = append(names, stream.Name)
		}
	}
	return names, nil
}

func (c *call) subscribe(changes []change, add []string) error {
	for _, ch := range changes {
		if strings.Trim(ch.feed.Name, "0123456789") == "" {
			continue // a number identifies an existing subscription
		}
		if _, err := c.Backend.Subscribe(c.ctx, c.user, ch.feed.Name, ch.title, add); err != nil {
			return err
		}
	}
	return nil
}

// quickAdd subscribes to the feed at a URL. Apps expect a response with a reason instead of
// an error for an invalid URL.
func (c *call) quickAdd() error {
	if err := c.checkToken(); err != nil {
		return err
	}
	address := strings.TrimPrefix(strings.TrimSpace(c.form.get("quickadd")), "feed/")
	if address == "" || len(address) > maxURL {
		return invalid("Send the URL of a feed, or of a page with a feed, as quickadd.")
	}
	s, err := c.Backend.Subscribe(c.ctx, c.user, address, "", nil)
	if e, ok := errors.AsType[*Error](err); ok && e.Status < http.StatusInternalServerError && e.Status != http.StatusTooManyRequests {
		return c.json(QuickAddResult{Query: address, Error: e.Msg})
	}
	if err != nil {
		return err
	}
	return c.json(QuickAddResult{Results: 1, Query: address, Stream: s.ID, Name: s.Title})
}

func (c *call) export() error {
	doc, err := c.Backend.Export(c.ctx, c.user)
	if err != nil {
		return err
	}
	head := c.w.Header()
	head.Set("Content-Type", "text/x-opml; charset=utf-8")
	head.Set("Content-Disposition", `attachment; filename="subscriptions.opml"`)
	_, err = c.w.Write(doc)
	return c.ignoreWriteError(err)
}

func (c *call) imports() error {
	if c.r.Method != http.MethodPost {
		c.w.Header().Set("Allow", "POST")
		return &Error{Status: http.StatusMethodNotAllowed, Msg: "Post an OPML document."}
	}
	n, err := c.Backend.Import(c.ctx, c.user, http.MaxBytesReader(c.w, c.r.Body, MaxImport))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &Error{Status: http.StatusRequestEntityTooLarge, Msg: "The document is larger than 8 MiB."}
	}
	if err != nil {
		return err
	}
	return c.plain(fmt.Sprintf("OK: %d", n))
}
