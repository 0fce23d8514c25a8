package hubui

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/cache"
	"cloudburst/internal/event"
	"cloudburst/internal/web/shell"
)

// row is one event as a line of the log.
type row struct {
	ID        string // node:seq
	Tag       string
	Kind      string
	Bad       bool
	Topic     string // shortened
	TopicHref string
	Text      string
	Via       endpoint // endpoint of the request, or protocol of the notification
	Took      string
	When      shell.Moment
	Meaning   string
	Facts     []fact
}

// fact is one line of an event's details.
type fact struct {
	Name, Value, Href string
	Foreign           bool // foreign text, which may be right-to-left
}

// newRow makes a line of the public part of e.
func newRow(e event.Event, now time.Time) row {
	e = e.Public()
	k := kindOf(e.Kind)
	r := row{
		ID: eventKey{e.Node, e.Seq}.String(), Tag: k.Tag, Kind: shell.CleanText(e.Kind, 20), Bad: !e.OK,
		Text: shell.CleanText(e.Text, 240), When: shell.NewMoment(now, e.At), Meaning: k.Meaning,
	}
	if e.Topic != "" {
		r.Topic = shell.ShortURL(e.Topic)
	}
	if e.TopicID != 0 {
		r.TopicHref = "/topics/" + strconv.FormatInt(e.TopicID, 10)
	}
	if e.Took > 0 {
		r.Took = shell.FormatDuration(e.Took)
	}
	if e.Via != "" {
		r.Via = endpointOf(e.Via)
	}
	r.Facts = facts(e, r)
	return r
}

func facts(e event.Event, r row) []fact {
	all := []fact{{Name: "When", Value: r.When.Exact}}
	if e.Topic != "" {
		all = append(all, fact{Name: "Feed", Value: shell.CleanText(e.Topic, 2048), Href: r.TopicHref, Foreign: true})
	}
	all = append(all, fact{Name: "Outcome", Value: shell.CleanText(e.Text, 2000), Foreign: true})
	if e.Via != "" {
		all = append(all, fact{Name: "Via", Value: endpointOf(e.Via).Words})
	}
	if e.Peer != "" {
		name := "From"
		switch e.Kind {
		case event.KindVerify, event.KindNotify, event.KindError, event.KindDrop, event.KindExpire:
			name = "Subscriber"
		case event.KindCheck:
			name = "Host"
		}
		all = append(all, fact{Name: name, Value: shell.CleanText(e.Peer, 255), Foreign: true})
	}
	if e.Notified > 0 || e.Failed > 0 {
		all = append(all, fact{Name: "Notified", Value: shell.FormatCount(e.Notified)}, fact{Name: "Not notified yet", Value: shell.FormatCount(e.Failed)})
	}
	if r.Took != "" {
		all = append(all, fact{Name: "Took", Value: r.Took})
	}
	if e.Version > 0 {
		all = append(all, fact{Name: "Change", Value: "number " + shell.FormatCount(e.Version) + " of this feed"})
	}
	return append(all, fact{Name: "Event", Value: r.ID})
}

// eventKey identifies an event; String, node:seq, is the id of its server-sent event.
type eventKey struct{ Node, Seq int64 }

func (m eventKey) String() string {
	return strconv.FormatInt(m.Node, 10) + ":" + strconv.FormatInt(m.Seq, 10)
}

func parseEventKey(s string) (m eventKey, ok bool) {
	node, seq, found := strings.Cut(strings.TrimSpace(s), ":")
	if !found {
		return m, false
	}
	var err1, err2 error
	m.Node, err1 = strconv.ParseInt(node, 10, 64)
	m.Seq, err2 = strconv.ParseInt(seq, 10, 64)
	return m, err1 == nil && err2 == nil
}

// rowCacheSize is the number of rendered rows in the cache: a burst of events is rendered once for
// all clients.
const rowCacheSize = 512

// rowCache caches the latest rendered rows. The zero value is ready.
type rowCache struct {
	mu   sync.Mutex
	made cache.LRU[eventKey, []byte]
}

// rendered returns e's line as HTML.
func (s *Pages) rendered(e event.Event) ([]byte, error) {
	return s.rows.get(eventKey{e.Node, e.Seq}, func(out *bytes.Buffer) error {
		return s.ExecutePart(out, "log", "row", newRow(e, s.CurrentTime()))
	})
}

// get returns the row of m, which render makes if it is not cached.
func (c *rowCache) get(m eventKey, render func(*bytes.Buffer) error) ([]byte, error) {
	c.mu.Lock()
	b, ok := c.made.Get(m)
	c.mu.Unlock()
	if ok {
		return b, nil
	}
	var out bytes.Buffer
	if err := render(&out); err != nil {
		return nil, err
	}
	b = bytes.TrimSpace(out.Bytes())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made.Max = rowCacheSize
	c.made.Put(m, b, 0)
	return b, nil
}
