package hubui

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/web/shell"
)

// EventsPerPage is the number of events on a page of the log.
const EventsPerPage = 60

// kind is one kind of event with its texts.
type kind struct{ Value, Tag, Label, Only, Meaning string }

func kinds() []kind {
	return []kind{
		{event.KindPing, "ping", "Pings", "Only pings", "An author reported a change of a feed."},
		{event.KindCheck, "check", "Checks", "Only checks", "The hub read the feed and compared it with the last version."},
		{event.KindRegister, "register", "Registrations", "Only registrations", "A subscriber registered for changes."},
		{event.KindVerify, "verify", "Test calls", "Only test calls", "The hub verified a subscriber."},
		{event.KindNotify, "notify", "Notifications", "Only notifications", "The hub notified subscribers of a change."},
		{event.KindError, "error", "Errors", "Only errors", "The hub could not notify a subscriber and will retry."},
		{event.KindCancel, "cancel", "Cancellations", "Only cancellations", "A subscriber ended its subscription."},
		{event.KindDrop, "drop", "Drops", "Only drops", "A subscription was removed: it failed too often, or the subscriber reported that it is gone."},
		{event.KindExpire, "expire", "Expiries", "Only expiries", "A subscription expired without renewal."},
		{event.KindSave, "save", "Saves", "Only saves", "A feed was saved here."},
		{event.KindTarget, "sink", "Ping targets", "Only ping targets", "Another server was pinged for a feed that is hosted here."},
		{event.KindSystem, "system", "System", "Only system", "Events of the server itself."},
	}
}

func kindOf(value string) kind {
	for _, k := range kinds() {
		if k.Value == value {
			return k
		}
	}
	v := shell.CleanText(value, 20)
	return kind{value, v, v, "", ""}
}

// logQuery holds the filters in the URL of the log.
type logQuery struct {
	Topic         string // text of the field as typed: a feed's URL or a topic's id
	topicID       int64
	Kinds         []string
	Text          string
	before, after event.Cursor

	TopicError, KindError, PlaceError string
}

// parseLogQuery reads topic, kind (repeated), q, before and after.
func parseLogQuery(v url.Values) logQuery {
	q := logQuery{Topic: shell.CleanText(strings.TrimSpace(v.Get("topic")), 2048), Text: shell.CleanText(strings.TrimSpace(v.Get("q")), 200)}
	if q.Topic != "" {
		if id, err := strconv.ParseInt(q.Topic, 10, 64); err == nil && id > 0 {
			q.topicID = id
		} else if feed, err := shell.ParseFeedURL(q.Topic); err == nil {
			q.topicID = hub.TopicID(feed)
		} else {
			q.TopicError = shell.ErrorText(err)
		}
	}
	for _, value := range v["kind"] {
		for k := range strings.SplitSeq(value, ",") {
			if k = strings.TrimSpace(k); k == "" || slices.Contains(q.Kinds, k) {
				continue
			}
			if kindOf(k).Meaning == "" {
				q.KindError = fmt.Sprintf("Unknown kind of event “%s”. Choose one from the list.", shell.CleanText(k, 40))
				continue
			}
			q.Kinds = append(q.Kinds, k)
		}
	}
	var ok1, ok2 bool
	q.before, ok1 = shell.ParseCursor(v.Get("before"))
	q.after, ok2 = shell.ParseCursor(v.Get("after"))
	if !ok1 || !ok2 {
		q.PlaceError = "The position in the address is not valid, so this is the newest page."
		q.before, q.after = event.Cursor{}, event.Cursor{}
	}
	return q
}

func (q logQuery) bad() bool { return q.TopicError != "" || q.KindError != "" || q.PlaceError != "" }

// Filtered reports whether a filter is set.
func (q logQuery) Filtered() bool { return q.topicID != 0 || len(q.Kinds) > 0 || q.Text != "" }

// store returns the query for the store, without a cursor.
func (q logQuery) store(limit int) hub.EventQuery {
	return hub.EventQuery{TopicID: q.topicID, Kinds: q.Kinds, Text: q.Text, Limit: limit}
}

// matches reports whether a live event passes the filters. The store uses the same filters.
func (q logQuery) matches(e event.Event) bool {
	if q.topicID != 0 && e.TopicID != q.topicID || len(q.Kinds) > 0 && !slices.Contains(q.Kinds, e.Kind) {
		return false
	}
	if q.Text == "" {
		return true
	}
	text := strings.ToLower(q.Text)
	return strings.Contains(strings.ToLower(e.Topic), text) ||
		strings.Contains(strings.ToLower(e.Text), text) || strings.Contains(strings.ToLower(e.Peer), text)
}

// url returns path with the filters of q as parameters. If name is not "", it adds the parameter name.
func (q logQuery) url(path, name, value string) string {
	v := url.Values{}
	if q.Topic != "" {
		v.Set("topic", q.Topic)
	}
	for _, k := range q.Kinds {
		v.Add("kind", k)
	}
	if q.Text != "" {
		v.Set("q", q.Text)
	}
	if name != "" {
		v.Set(name, value)
	}
	if len(v) == 0 {
		return path
	}
	return path + "?" + v.Encode()
}

type logView struct {
	shell.View
	Query        logQuery
	Kinds        []kind
	Rows         []row
	Newest       bool   // the page is the first page, which is live
	Stream       string // URL of the live events after the first row
	Older, Newer string // URLs of the neighbouring pages; "": none
	First        string // URL of the newest page
}

// Refused reports whether a filter is invalid. The page then lists no events.
func (v logView) Refused() bool { return v.Query.TopicError != "" || v.Query.KindError != "" }

// Chosen reports whether k is the selected kind in the menu.
func (v logView) Chosen(k string) bool { return len(v.Query.Kinds) == 1 && v.Query.Kinds[0] == k }

// Several returns the text of the menu entry that is selected if the URL has more than one kind.
func (v logView) Several() string {
	if len(v.Query.Kinds) < 2 {
		return ""
	}
	return shell.JoinWords(v.Query.Kinds)
}

// spec:rsscloud-2009#log
func (s *Pages) logPage(rw http.ResponseWriter, r *http.Request) error {
	q := parseLogQuery(r.URL.Query())
	v := logView{View: s.wideView(r, "Log"), Query: q, Kinds: kinds(), First: q.url("/log", "", "")}
	v.Script = "log.js"
	if v.Refused() {
		return s.Render(rw, r, http.StatusBadRequest, "log", v)
	}
	events, older, newer, err := s.logEvents(r, q)
	if err != nil {
		return err
	}
	v.Rows = s.eventRows(r.Context(), events, rowView{Lang: v.Lang, Now: v.Now, Query: q, InLog: true})
	if n := len(events); n > 0 {
		if older {
			v.Older = q.url("/log", "before", shell.FormatCursor(events[n-1].Cursor()))
		}
		if newer {
			v.Newer = q.url("/log", "after", shell.FormatCursor(events[0].Cursor()))
		}
	}
	v.Newest = !newer
	since := "0:0"
	if len(events) > 0 {
		since = eventKey{events[0].Node, events[0].Seq}.String()
	}
	v.Stream = q.url("/log/stream", "since", since) + "&as=html"
	status := http.StatusOK
	if q.bad() {
		status = http.StatusBadRequest
	}
	return s.Render(rw, r, status, "log", v)
}

// eventRows makes the lines of events, with the titles of their feeds.
func (s *Pages) eventRows(ctx context.Context, events []event.Event, in rowView) (rows []row) {
	in.Titles = s.eventTitles(ctx, events)
	for _, e := range events {
		rows = append(rows, newRow(e, in))
	}
	return rows
}

// eventTitles returns the titles of the feeds of events.
func (s *Pages) eventTitles(ctx context.Context, events []event.Event) map[string]string {
	urls := make([]string, len(events))
	for i, e := range events {
		urls[i] = e.Topic
	}
	return s.titlesOf(ctx, urls)
}

// logEvents reads one page, newest first, and reports whether more events exist on each side.
func (s *Pages) logEvents(r *http.Request, q logQuery) (events []event.Event, older, newer bool, err error) {
	return shell.ReadPage(EventsPerPage, q.before, q.after, func(before, after event.Cursor, limit int) ([]event.Event, error) {
		want := q.store(limit)
		want.Before, want.After, want.Forward = before, after, after != event.Cursor{}
		return s.Store.Events(r.Context(), want)
	})
}
