package hubui

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/web/shell"
)

const topicsRows = 50

// sortAddress is the value of the parameter sort for a list ordered by URL.
const sortAddress = "address"

type topicsView struct {
	shell.View
	Match     string
	Sort      string // order of the list: changed, subscribers or address
	SortError string
	Rows      []topicRow
	Counts    hub.Counts
	Counted   bool
	First     string // URL of the first page
	More      string // URL of the next page; "": none
	Paged     bool   // this is not the first page
}

type topicRow struct {
	Href        string
	Name        string // title of the feed; without a title, its shortened URL
	URL         string // shortened URL if Name is the title, else ""
	Subscribers int64
	Changed     shell.Moment
	State       string
	Bad         bool
}

// Column is the header of a column by which the list can be sorted.
type Column struct{ Sort, Label, Href, Direction string }

// Columns lists the headers. Direction is set only for the column by which the page is sorted.
func (v topicsView) Columns() []Column {
	all := []Column{{Sort: sortAddress, Label: "Feed", Direction: "ascending"}, {Sort: string(hub.TopicsBySubscribers), Label: "Subscribers", Direction: "descending"},
		{Sort: string(hub.TopicsByChange), Label: "Last change", Direction: "descending"}}
	for i := range all {
		all[i].Href = v.url(all[i].Sort, "")
		if all[i].Sort != v.Sort {
			all[i].Direction = ""
		}
	}
	return all
}

// url returns the URL of a page of the list.
func (v topicsView) url(sort, after string) string {
	q := url.Values{}
	for name, value := range map[string]string{"q": v.Match, "sort": sort, "after": after} {
		if value != "" && (name != "sort" || value != string(hub.TopicsByChange)) {
			q.Set(name, value)
		}
	}
	if len(q) == 0 {
		return "/topics"
	}
	return "/topics?" + q.Encode()
}

// topics lists the topics. With the parameter url, it redirects to the page of that topic.
func (s *Pages) topics(rw http.ResponseWriter, r *http.Request) error {
	in := r.URL.Query()
	if feed := strings.TrimSpace(in.Get("url")); feed != "" {
		http.Redirect(rw, r, NewFeedLink(feed).Href, http.StatusFound)
		return nil
	}
	v := topicsView{View: s.wideView(r, "Topics"), Match: shell.CleanText(strings.TrimSpace(in.Get("q")), 200)}
	q, err := v.query(in)
	if err != nil {
		v.SortError = shell.ErrorText(err)
	}
	found, err := s.listTopics(r.Context(), q)
	if err != nil {
		return err
	}
	if len(found) > topicsRows {
		found = found[:topicsRows]
		v.More = v.url(v.Sort, placeAfter(q.Order, found[topicsRows-1]))
	}
	v.First = v.url(v.Sort, "")
	v.Rows = s.topicRows(r.Context(), found, v.Now)
	if v.Counts, err = s.Hub.Counts(r.Context()); err == nil {
		v.Counted = true
	}
	status := http.StatusOK
	if v.SortError != "" {
		status = http.StatusBadRequest
	}
	return s.Render(rw, r, status, "topics", v)
}

// query reads the parameters sort and after. If one is invalid, it returns an error and the query of the
// first page.
func (v *topicsView) query(in url.Values) (hub.TopicQuery, error) {
	q := hub.TopicQuery{Match: v.Match, Order: hub.TopicsByChange, Limit: topicsRows + 1, Now: v.Now}
	v.Sort = string(hub.TopicsByChange)
	switch sort := in.Get("sort"); sort {
	case "", v.Sort:
	case string(hub.TopicsBySubscribers):
		v.Sort, q.Order = sort, hub.TopicsBySubscribers
	case sortAddress:
		v.Sort, q.Order = sort, hub.TopicsByURL
	default:
		return q, fault.New(fault.Invalid, "The order %q does not exist. Choose changed, subscribers or address.", shell.CleanText(sort, 40))
	}
	after := strings.ToValidUTF8(in.Get("after"), "")
	if after == "" {
		return q, nil
	}
	if q.Order == hub.TopicsByURL {
		q.After, v.Paged = after, true
		return q, nil
	}
	value, id, _ := strings.Cut(after, ".")
	n, err1 := strconv.ParseInt(value, 10, 64)
	m, err2 := strconv.ParseInt(id, 10, 64)
	if err1 != nil || err2 != nil {
		return q, fault.New(fault.Invalid, "The position in the address is not valid, so this is the first page.")
	}
	q.Behind, v.Paged = hub.TopicPlace{Value: n, ID: m}, true
	return q, nil
}

// placeAfter returns the value of the parameter after for the page that begins after a topic.
func placeAfter(order hub.TopicOrder, t hub.TopicInfo) string {
	value := t.Subscribers
	switch order {
	case hub.TopicsByURL:
		return t.URL
	case hub.TopicsByChange:
		value = 0
		if !t.ChangedAt.IsZero() {
			value = t.ChangedAt.UnixMilli()
		}
	}
	return strconv.FormatInt(value, 10) + "." + strconv.FormatInt(t.ID, 10)
}

// listTopics reads a page. The order by subscribers counts all subscriptions, so only one request
// at a time may read in this order.
func (s *Pages) listTopics(ctx context.Context, q hub.TopicQuery) ([]hub.TopicInfo, error) {
	if q.Order == hub.TopicsBySubscribers {
		select {
		case s.ranking <- struct{}{}:
			defer func() { <-s.ranking }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return s.Store.Topics(ctx, q)
}

func (s *Pages) topicRows(ctx context.Context, found []hub.TopicInfo, now time.Time) (rows []topicRow) {
	var untitled []string
	for _, t := range found {
		if strings.TrimSpace(t.About.Title) == "" {
			untitled = append(untitled, t.URL)
		}
	}
	titles := s.titlesOf(ctx, untitled)
	for _, t := range found {
		changed := t.ChangedAt
		if s.Changed != nil {
			if own := s.Changed(ctx, t.URL); own.After(changed) {
				changed = own // the hub has not read the current version of the feed yet
			}
		}
		row := topicRow{Href: "/topics/" + strconv.FormatInt(t.ID, 10), Name: shell.ShortURL(t.URL), Subscribers: t.Subscribers, Changed: shell.NewMoment(now, changed)}
		title := shell.CleanText(strings.TrimSpace(t.About.Title), maxTitle)
		if title == "" {
			title = titles[t.URL]
		}
		if title != "" {
			row.Name, row.URL = title, row.Name
		}
		if changed.IsZero() {
			row.Changed.Text = unchangedWords(t.Topic)
		}
		switch {
		case t.Failures > 0:
			row.State, row.Bad = "cannot be read", true
		case !t.PingedAt.IsZero():
			row.State = "being checked"
		}
		rows = append(rows, row)
	}
	return rows
}

// unchangedWords describes a topic without a known change.
func unchangedWords(t hub.Topic) string {
	if t.CheckedAt.IsZero() || t.Version == 0 {
		return "not read yet"
	}
	return "none seen yet"
}
