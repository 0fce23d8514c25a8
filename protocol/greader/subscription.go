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

// change is one subscription of subscription/edit.
type change struct {
	feed  Stream
	title string
}

// edit subscribes, unsubscribes, renames and labels. Several s go with several t.
func (c *call) edit() error {
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
	return invalid("Say what to do as ac: subscribe, unsubscribe or edit.")
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
			return nil, invalid("That is no feed: " + clip(s))
		}
		ch := change{feed: feed}
		if i < len(titles) {
			if ch.title = strings.TrimSpace(titles[i]); len(ch.title) > longTitle {
				return nil, invalid("The title is too long.")
			}
		}
		list = append(list, ch)
	}
	return list, nil
}

// labels reads a and r of subscription/edit, of which states mean nothing.
func labels(list []string) (names []string, err error) {
	for _, s := range list {
		if s == "" || s == Label("").String() { // a folder without a name: none
			continue
		}
		stream, err := ParseStream(s)
		if err != nil || stream.Kind == KindFeed {
			return nil, invalid("That is no label: " + clip(s))
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
			continue // a number is of a feed that is followed already
		}
		if _, err := c.Backend.Subscribe(c.ctx, c.user, ch.feed.Name, ch.title, add); err != nil {
			return err
		}
	}
	return nil
}

// quickAdd follows what is at an address. What is wrong with the address is no error
// to apps but an answer with a reason.
func (c *call) quickAdd() error {
	address := strings.TrimPrefix(strings.TrimSpace(c.form.get("quickadd")), "feed/")
	if address == "" || len(address) > longURL {
		return invalid("Send the address of a feed, or of a page that has one, as quickadd.")
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
	return c.gone(err)
}

func (c *call) imports() error {
	if c.r.Method != http.MethodPost {
		c.w.Header().Set("Allow", "POST")
		return &Error{Status: http.StatusMethodNotAllowed, Msg: "Post an OPML document."}
	}
	n, err := c.Backend.Import(c.ctx, c.user, http.MaxBytesReader(c.w, c.r.Body, MaxImport))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &Error{Status: http.StatusRequestEntityTooLarge, Msg: "The document has more than 8 MiB."}
	}
	if err != nil {
		return err
	}
	return c.plain(fmt.Sprintf("OK: %d", n))
}
