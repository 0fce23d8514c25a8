package hubui

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/cache"
	"cloudburst/internal/event"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

// row is one event as a line of the log.
type row struct {
	ID        string // ID of the event, "node:seq"
	Tag       string
	Kind      string
	Bad       bool
	Topic     string // title of the feed; without a title, its shortened URL
	TopicURL  string // URL of the feed if Topic is a title, else ""
	TopicHref string
	Text      string
	Via       endpoint // endpoint of the request, or protocol of the notification
	Took      string
	When      shell.Moment
	Meaning   string
	Facts     []fact
	Narrower  []fact // links to the log with one more filter
}

// fact is one line of an event's details.
type fact struct {
	Name, Value, Href string
	Foreign           bool // Value comes from a feed or another server, so the page isolates its text direction
}

// rowView contains the common data of the lines of one page.
type rowView struct {
	Lang   *locale.Locale
	Now    time.Time
	Titles map[string]string // key: feed URL; value: title of the feed
	Query  logQuery          // filters of the page; links in the lines keep these filters
	InLog  bool              // the lines are in the log; false: they are on the page of a topic
}

// newRow makes a line of the public part of e.
func newRow(e event.Event, in rowView) row {
	e = e.Public()
	e.Text = in.Lang.Fault(e.Text)
	k := kindOf(e.Kind)
	r := row{
		ID: eventKey{e.Node, e.Seq}.String(), Tag: k.Tag, Kind: shell.CleanText(e.Kind, 20), Bad: !e.OK,
		Text: shell.CleanText(e.Text, 240), When: shell.NewMoment(in.Now, e.At), Meaning: k.Meaning,
	}
	if e.Topic != "" {
		r.Topic = shell.ShortURL(e.Topic)
		if title := in.Titles[e.Topic]; title != "" {
			r.Topic, r.TopicURL = title, shell.CleanText(e.Topic, 2048)
		}
	}
	if e.TopicID != 0 {
		from := in.Query
		from.Topic = ""
		r.TopicHref = from.url("/topics/"+strconv.FormatInt(e.TopicID, 10), "", "")
	}
	if e.Took > 0 {
		r.Took = in.Lang.Duration(e.Took)
	}
	if e.Via != "" {
		r.Via = endpointOf(e.Via)
	}
	r.Facts = facts(in.Lang, e, r)
	if in.InLog {
		r.Narrower = narrower(e, k, in.Query)
	}
	return r
}

// narrower lists links that add one more filter to the log. It omits filters that q already has.
func narrower(e event.Event, k kind, q logQuery) (all []fact) {
	if q.Topic == "" && e.TopicID != 0 {
		only := q
		only.Topic = strconv.FormatInt(e.TopicID, 10)
		if feed, err := shell.ParseFeedURL(e.Topic); err == nil && feed == e.Topic {
			only.Topic = feed
		}
		all = append(all, fact{Name: "Only this feed", Href: only.url("/log", "", "")})
	}
	if len(q.Kinds) == 0 && k.Only != "" {
		only := q
		only.Kinds = []string{k.Value}
		all = append(all, fact{Name: k.Only, Href: only.url("/log", "", "")})
	}
	return all
}

func facts(l *locale.Locale, e event.Event, r row) []fact {
	all := []fact{{Name: "When", Value: r.When.In(l).Exact}}
	if r.TopicURL != "" {
		all = append(all, fact{Name: "Feed", Value: r.Topic, Href: r.TopicHref, Foreign: true}, fact{Name: "Address", Value: r.TopicURL, Foreign: true})
	} else if e.Topic != "" {
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
		all = append(all, fact{Name: "Notified", Value: l.Count(int64(e.Notified))}, fact{Name: "Not notified yet", Value: l.Count(int64(e.Failed))})
	}
	if r.Took != "" {
		all = append(all, fact{Name: "Took", Value: r.Took})
	}
	if e.Version > 0 {
		all = append(all, fact{Name: "Change", Value: l.Say("number %d of this feed", e.Version)})
	}
	return append(all, fact{Name: "Event", Value: r.ID})
}

// eventKey identifies an event. String returns "node:seq", the id of the server-sent event.
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

// rowCacheSize is the maximum number of rendered rows in the cache. The cache renders each event only once
// for all clients.
const rowCacheSize = 512

// rowCache caches the latest rendered rows. The zero value is ready.
type rowCache struct {
	mu   sync.Mutex
	made cache.LRU[rowKey, []byte]
}

// rowKey identifies a rendered row. It contains the filters, because they change the links of a row.
type rowKey struct {
	eventKey
	filter string
	lang   string
}

// rendered returns the line of the event e as HTML. The links in the line keep the filters of q.
func (s *Pages) rendered(l *locale.Locale, e event.Event, titles map[string]string, q logQuery) ([]byte, error) {
	return s.rows.get(rowKey{eventKey{e.Node, e.Seq}, q.url("", "", ""), l.Code}, func(out *bytes.Buffer) error {
		return s.ExecutePartIn(l, out, "log", "row", newRow(e, rowView{Lang: l, Now: s.CurrentTime(), Titles: titles, Query: q, InLog: true}))
	})
}

// get returns the row of m from the cache. If the row is not cached, get calls render and caches the result.
func (c *rowCache) get(m rowKey, render func(*bytes.Buffer) error) ([]byte, error) {
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
