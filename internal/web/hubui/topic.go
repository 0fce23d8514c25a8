package hubui

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/validator"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

const (
	topicEvents   = 40
	topicHosts    = 40   // maximum number of subscribers in the list
	topicCounted  = 5000 // maximum number of subscriptions read for a topic's page
	topicChanges  = 24   // maximum number of changes in a topic's charts
	topicNotified = 400  // maximum number of notify events read for these charts
)

type topicView struct {
	shell.View
	Topic     hub.Topic
	Known     bool // the topic is stored; false: only the log contains it
	URL       string
	Open      bool   // URL is safe as the target of a link
	Home      string // URL of the website that the feed declares; "": none
	Self      string // URL that the feed declares as its own; "": same as URL
	LogHref   string
	Back      string // URL of the log with the filters that the user came from; "": the user did not come from the log
	Lead      string // first sentence about the state of the topic
	Then      string // second sentence about the state of the topic
	Bad       bool
	Tally     tally
	Hosts     []hostRow
	HostsLeft int
	Rows      []row
	Charts    []shell.Figure
	Due       []fact
}

// tally counts the live subscriptions of a topic.
type tally struct {
	Live      int64
	Partial   bool // only the first topicCounted subscriptions were checked for failures
	Protocols []protocolCount
	Failing   int // subscriptions without the current version that the hub still retries
	NextTry   time.Time
}

type protocolCount struct {
	Protocol string
	N        int
}

// hostRow is the public part of a subscription: without the path and the procedure of the callback.
type hostRow struct {
	Host, Protocol string
	Since, Expires shell.Moment
	State          string
	Bad            bool
	NextTry        shell.Moment
}

func (s *Pages) topicPage(rw http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id <= 0 {
		return s.Problem(rw, r, http.StatusNotFound, "Unknown topic", "A topic's address ends in a number. Search for the feed on the topics page.")
	}
	t, err := s.Store.Topic(ctx, id)
	known := err == nil
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return err
	}
	events, err := s.Store.Events(ctx, hub.EventQuery{TopicID: id, Limit: topicEvents})
	if err != nil {
		return err
	}
	if !known && len(events) == 0 {
		return s.Problem(rw, r, http.StatusNotFound, "This feed has no subscribers here", "There is no subscription for it and no recent ping. Its page appears with the first subscription.")
	}
	v := topicView{View: s.wideView(r, ""), Topic: t, Known: known}
	address := t.URL
	if !known {
		address = events[0].Topic
	}
	v.URL, v.Open = shell.CleanText(address, 2048), shell.IsWebURL(address)
	v.name(address, s.titlesOf(ctx, []string{address})[address])
	v.linkLog(r, id)
	for _, e := range events {
		line := newRow(e, rowView{Lang: v.Lang, Now: v.Now})
		line.Topic = "" // the heading of the page names the topic
		v.Rows = append(v.Rows, line)
	}
	if err := s.fillTopic(ctx, &v, events); err != nil {
		return err
	}
	return s.Render(rw, r, http.StatusOK, "topic", v)
}

// name sets the heading of the page: the title that the feed declares, else title, else the feed's URL.
func (v *topicView) name(address, title string) {
	v.Title, v.Heading = shell.ShortURL(address), shell.ShortURL(address)
	about := v.Topic.About
	if title := cmp.Or(shell.CleanText(strings.TrimSpace(about.Title), 255), title); title != "" {
		v.Title, v.Heading = title, title
	}
	if about.Home != address {
		v.Home = linkTo(about.Home)
	}
	if about.Self != address {
		v.Self = linkTo(about.Self)
	}
}

// linkLog sets the links to the log. They keep the filters of the log page that the user came from.
func (v *topicView) linkLog(r *http.Request, id int64) {
	from := parseLogQuery(r.URL.Query())
	from.Topic = ""
	if from.Filtered() && !from.bad() {
		v.Back = from.url("/log", "", "")
	}
	from.Topic = strconv.FormatInt(id, 10)
	v.LogHref = from.url("/log", "", "")
}

// fillTopic adds the subscribers, the charts and the two sentences about the state.
func (s *Pages) fillTopic(ctx context.Context, v *topicView, events []event.Event) error {
	if !v.Known {
		v.Lead, v.Then = unknownWords(v.View, events)
		return nil
	}
	subs, more, err := s.liveSubscriptions(ctx, v.Topic.ID, v.Now)
	if err != nil {
		return err
	}
	counts, err := s.Store.Subscribers(ctx, v.Topic.ID, v.Now)
	if err != nil {
		return err
	}
	v.Tally = tallyOf(subs, counts)
	v.Tally.Partial = more
	v.Hosts, v.HostsLeft = hostRows(subs, v.Tally.Live, v.View)
	notified, err := s.Store.Events(ctx, hub.EventQuery{TopicID: v.Topic.ID, Kinds: []string{event.KindNotify, event.KindCheck}, Limit: topicNotified})
	if err != nil {
		return err
	}
	changes := changesOf(notified)
	v.Charts = changeCharts(v.View, changes)
	v.Lead, v.Then, v.Bad = verdict(v.View, v.Topic, v.Tally, changes, events)
	v.Due = dueFacts(v.Topic, v.Tally, v.View)
	return nil
}

// liveSubscriptions reads at most topicCounted live subscriptions.
func (s *Pages) liveSubscriptions(ctx context.Context, topicID int64, now time.Time) (live []hub.SubscriptionInfo, more bool, err error) {
	q := hub.SubscriptionQuery{TopicID: topicID, Limit: 1000}
	for read := 0; read < topicCounted; {
		page, err := s.Store.Subscriptions(ctx, q)
		if err != nil {
			return nil, false, err
		}
		for _, sub := range page {
			if sub.ExpiresAt.After(now) {
				live = append(live, sub)
			}
		}
		if len(page) < q.Limit {
			return live, false, nil
		}
		read += len(page)
		q.After = page[len(page)-1].Key()
	}
	return live, true, nil
}

// tallyOf returns the counts of all subscriptions by protocol, and counts the failures among subs.
func tallyOf(subs []hub.SubscriptionInfo, counts map[string]int64) (out tally) {
	for _, sub := range subs {
		if !sub.NextAt.IsZero() && sub.PendingVersion > sub.Sent {
			out.Failing++
		}
		if !sub.NextAt.IsZero() && (out.NextTry.IsZero() || sub.NextAt.Before(out.NextTry)) {
			out.NextTry = sub.NextAt
		}
	}
	for protocol, n := range counts {
		out.Live += n
		out.Protocols = append(out.Protocols, protocolCount{shell.ProtocolName(protocol), int(n)})
	}
	slices.SortFunc(out.Protocols, func(a, b protocolCount) int {
		return cmp.Or(b.N-a.N, strings.Compare(a.Protocol, b.Protocol))
	})
	return out
}

// hostRows lists failing subscribers first, then the most recently renewed ones. left is the number of subscribers that
// the list omits.
func hostRows(subs []hub.SubscriptionInfo, live int64, v shell.View) (rows []hostRow, left int) {
	slices.SortStableFunc(subs, func(a, b hub.SubscriptionInfo) int {
		return cmp.Or(cmp.Compare(b.Failures, a.Failures), b.RenewedAt.Compare(a.RenewedAt), cmp.Compare(a.ID, b.ID))
	})
	for _, sub := range subs[:min(len(subs), topicHosts)] {
		h := hostRow{Host: shell.HostOf(sub.Callback), Protocol: shell.ProtocolName(sub.Protocol), Since: v.When(sub.CreatedAt), Expires: ending(sub.ExpiresAt, v), State: v.Say("well")}
		if sub.Failures > 0 {
			h.Bad = true
			h.State = timesWord(v, sub.Failures)
			if why := shell.CleanText(sub.LastError, 160); why != "" {
				h.State += ": " + v.Lang.Fault(why)
			}
			if sub.NextAt.After(v.Now) {
				h.NextTry = v.When(sub.NextAt)
			}
		}
		rows = append(rows, h)
	}
	return rows, int(live) - len(rows)
}

// ending returns the time at which a subscription expires, or the zero value if it never expires.
//
// spec:cnws-2003#no-expiry
func ending(at time.Time, v shell.View) shell.Moment {
	if !at.Before(hub.Forever()) {
		return shell.Moment{Zero: true, Text: v.Say("no end")}
	}
	return v.When(at)
}

func timesWord(v shell.View, n int) string {
	switch n {
	case 1:
		return v.Say("failed the last time")
	case 2:
		return v.Say("failed twice in a row")
	}
	return v.Say("failed %d times in a row", n)
}

// nextCheck describes the next check of a topic without a pending ping.
func nextCheck(t hub.Topic, v shell.View) string {
	if t.AgainAt.IsZero() {
		return v.Say("at the next ping")
	}
	when := v.Lang.Relative(v.Now, t.AgainAt)
	if t.Evidence.Recent {
		return v.Say("at the next ping, and %s: it had just changed when it was last read", when)
	}
	return v.Say("at the next ping, and %s: 304 responses were accepted since it was last read in full", when)
}

// verification describes how the hub verifies a ping, and the number of requests and bytes so far.
func verification(t hub.Topic, v shell.View) []fact {
	if t.Hash == nil {
		return nil
	}
	how := v.Say("a 304 response counts as unchanged, because its ETag has changed together with the content before")
	if doubt := t.Evidence.Doubt(t.ETag, v.Now, v.Now); doubt != validator.NoDoubt {
		how = v.Say("the feed is read in full, because %s", v.Lang.Fault(doubt.Reason()))
	}
	cost := locale.Quantity(t.FullReads, "read in full", "reads in full").In(v.Lang) + ", " + v.Lang.Bytes(t.FullBytes)
	if t.NotModified > 0 {
		cost += "; " + v.Say("a 304 counted %s", locale.Quantity(t.NotModified, "time", "times"))
	}
	return []fact{{Name: "After a ping", Value: how}, {Name: "Checks so far", Value: cost}}
}

func dueFacts(t hub.Topic, n tally, v shell.View) []fact {
	var due []fact
	if !t.PingedAt.IsZero() {
		due = append(due, fact{Name: "Next check", Value: v.Say("now: the ping from %s is being processed", v.Lang.Relative(v.Now, t.PingedAt))})
	} else {
		due = append(due, fact{Name: "Next check", Value: nextCheck(t, v)})
	}
	due = append(due, verification(t, v)...)
	switch {
	case n.NextTry.IsZero():
		due = append(due, fact{Name: "Next notification", Value: v.Say("at the next change")})
	case n.NextTry.After(v.Now):
		due = append(due, fact{Name: "Next notification", Value: v.Say("a retry %s", v.Lang.Relative(v.Now, n.NextTry))})
	default:
		due = append(due, fact{Name: "Next notification", Value: v.Say("a retry, now")})
	}
	return due
}

// changeCharts draws the last changes of a topic, oldest first; nil: there are fewer than two
// changes.
func changeCharts(v shell.View, changes []change) []shell.Figure {
	changes = changes[:min(len(changes), topicChanges)]
	if len(changes) < 2 {
		return nil
	}
	notified, took := make([]float64, len(changes)), make([]float64, len(changes))
	for i, c := range changes {
		at := len(changes) - 1 - i
		notified[at], took[at] = float64(c.Notified), float64(c.Took.Microseconds())/1000
	}
	unit := inSeconds(took)
	n := len(changes)
	ticks := []shell.Tick{{At: 0, Label: v.Say("change %d", changes[n-1].Version)}, {At: 1, Label: v.Say("change %d", changes[0].Version)}}
	return []shell.Figure{
		{ID: "told", Title: v.Say("Subscribers notified"), Unit: v.Say("subscribers"), Whole: true, Bars: true, Ticks: ticks,
			Desc:   v.Say("Subscribers notified of each of the last %d changes. Of the latest: %d.", n, changes[0].Notified),
			Now:    v.Say("%d at the last change", changes[0].Notified),
			Series: []shell.Series{{Name: v.Say("notified"), Class: "s1", Values: notified}}},
		{ID: "took", Title: v.Say("Time until the last subscriber was notified"), Unit: unit, Bars: true, Ticks: ticks,
			Desc:   v.Say("Time from the detection of each of the last %d changes to the last notification. The latest: %s.", n, changes[0].Took),
			Now:    v.Say("%s at the last change", changes[0].Took),
			Series: []shell.Series{{Name: v.Say("took"), Class: "s1", Values: took}}},
	}
}

// inSeconds returns the unit of the values, ms or s. If the maximum is at least 2,000 ms, it
// converts the values from milliseconds to seconds in place.
func inSeconds(all ...[]float64) string {
	top := 0.0
	for _, values := range all {
		top = max(top, shell.Figure{Series: []shell.Series{{Values: values}}}.Highest())
	}
	if top < 2000 {
		return "ms"
	}
	for _, values := range all {
		for i := range values {
			values[i] /= 1000
		}
	}
	return "s"
}

// Unchanged describes a topic without a known change.
func (v topicView) Unchanged() string { return unchangedWords(v.Topic) }
