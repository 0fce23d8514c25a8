package hubui

import (
	"strconv"

	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

// numberGroup is a group of numbers of the status page, the most important first.
type numberGroup struct {
	Name string
	Rows []number
	Note string
}

// number is one number with its name.
type number struct {
	Name  string
	Value string // text instead of N; "": none
	N     int64
	Href  string
	Bad   bool
}

// attention is a problem that the operator should look at, with a link to the page that helps to fix it.
type attention struct{ Text, Href, Link string }

func numberOf[N int | int64](name string, n N) number {
	return number{Name: name, N: int64(n)}
}

// linked returns n with a link if the number is not zero.
func (n number) linked(href string) number {
	if n.N != 0 {
		n.Href = href
	}
	return n
}

// marked returns n marked as a failure if the number is not zero.
func (n number) marked() number {
	n.Bad = n.N != 0
	return n
}

// statusGroups lists all numbers of the status page.
func statusGroups(v statusView) []numberGroup {
	deliveries := numberGroup{Name: "Deliveries", Rows: []number{
		numberOf("Pending", v.Counts.Pending),
		numberOf("In progress", v.Live.InFlight),
		numberOf("Queued", v.Live.Queue),
		numberOf("Hosts paused after errors", v.Live.Open).marked(),
		numberOf("Slow hosts", v.Live.Slow),
		numberOf("Subscriber hosts known", v.Live.Origins),
	}}
	subscriptions := numberGroup{Name: "Subscriptions", Rows: []number{
		numberOf("Active", v.Counts.Subscriptions).linked("/topics?sort=subscribers"),
		numberOf("Failing", v.Counts.Failing).linked("/log?kind=error").marked(),
	}}
	if v.Counts.Requests > 0 {
		subscriptions.Rows = append(subscriptions.Rows, numberOf("Requests pending", v.Counts.Requests))
	}
	feeds := numberGroup{Name: "Feeds", Rows: []number{
		numberOf("Known to the hub", v.Counts.Topics).linked("/topics"),
		numberOf("Pings not yet checked", v.Counts.ChecksDue),
		numberOf("Checks in progress", v.Live.Checks),
	}}
	groups := []numberGroup{deliveries, subscriptions, feeds}
	if v.Reading != nil {
		groups = append(groups, readingGroup(v))
	}
	return append(groups, machineGroup(v))
}

// readingGroup has the numbers of the feed reader.
func readingGroup(v statusView) numberGroup {
	r := v.Reading
	return numberGroup{Name: "Reading", Rows: []number{
		numberOf("Feeds followed", r.Followed),
		numberOf("Failing", r.Failing).marked(),
		numberOf("Gone", r.Gone).marked(),
		numberOf("Due now", r.Due),
		numberOf("Being read", r.Reading),
		numberOf("With push", r.Pushed),
		numberOf("Readers", r.SourceCounts.Readers),
		numberOf("Items stored", r.Items),
		numberOf("Live pages open", r.Listening),
	}, Note: v.Say("Since the start: %s, %d without news, %d failed, %d delivered by hubs; %s, %d edited, %d withdrawn.",
		locale.Quantity(r.Checks, "check", "checks"), r.Unchanged, r.Failed, r.Delivered, locale.Quantity(r.New, "new item", "new items"), r.Edited, r.Withdrawn)}
}

// machineGroup has the numbers of this process.
func machineGroup(v statusView) numberGroup {
	g := numberGroup{Name: "Machine"}
	if v.Up != "" {
		g.Rows = append(g.Rows, number{Name: "Running for", Value: v.Up})
	}
	version := v.Version
	if version == "" {
		version = "unknown"
	}
	g.Rows = append(g.Rows, number{Name: "Version", Value: version}, numberOf("Events in the log", v.Counts.Events).linked("/log"), number{Name: "Node", Value: strconv.FormatInt(v.Live.Node, 10)})
	g.Note = v.Say("Since the start: %s, %s, %s for them.", locale.Quantity(v.Live.Totals.Pings, "ping", "pings"),
		locale.Quantity(v.Live.Totals.Notified, "notification", "notifications"), locale.Quantity(v.Live.Writes, "write", "writes"))
	return g
}

// attentions lists the problems that the operator should look at, the most urgent first.
func attentions(v statusView) (all []attention) {
	if f := v.Counts.Failing; f > 0 && f*4 > v.Counts.Subscriptions {
		all = append(all, attention{v.Say("%d of %s If the errors are timeouts of many hosts, check the network of this machine.", f, locale.Quantity(v.Counts.Subscriptions, "subscription fails.", "subscriptions fail.")), "/log?kind=error", "Show the errors"})
	}
	if n := v.Counts.ChecksDue; n > manyChecksDue {
		all = append(all, attention{v.Say("%d pings wait for their check, so notifications are late. Feeds that answer slowly hold the checks up.", n), "/log?kind=check", "Show the checks"})
	}
	if r := v.Reading; r != nil && (r.Failing+r.Gone)*4 > r.Followed {
		all = append(all, attention{v.Say("%d of %s cannot be read. If that began for all at once, check the network of this machine.", r.Failing+r.Gone, locale.Quantity(r.Followed, "followed feed", "followed feeds")), "/feeds?show=broken", "Show the failing feeds"})
	}
	for _, w := range v.warnings {
		all = append(all, attention{Text: v.Lang.Fault(shell.Sentence(w))})
	}
	return all
}

// manyChecksDue is the number of unchecked pings above which the status page warns the operator.
const manyChecksDue = 1000
