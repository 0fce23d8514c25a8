package audience

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/fault"
)

// Report is the audience of a user's feeds. Readers is the sum of the Readers fields of Services,
// Programs, Push and Private.
type Report struct {
	User       string    `json:"user"`
	At         time.Time `json:"at"`
	WindowDays int       `json:"window_days"`

	Readers  int64          `json:"readers"`
	Services Services       `json:"services"`
	Programs Programs       `json:"programs"`
	Push     Push           `json:"push"`
	Private  PrivateReaders `json:"private"`
	Here     Here           `json:"here"`
	Mail     Mail           `json:"mail"`

	NotCounted NotCounted `json:"not_counted"`
	Formats    []Count    `json:"formats"` // readers that fetch with services and programs, by format
	Days       []Day      `json:"days"`    // oldest day first; the last day is today
	Partial    bool       `json:"partial"` // the feeds have more clients than the report evaluates
}

// Services are clients that fetch for many subscribers and declare their number.
type Services struct {
	Readers int64        `json:"readers"`
	List    []ServiceRow `json:"list"`
}

// ServiceRow is one service with one format of the feed.
type ServiceRow struct {
	Name        string    `json:"name"`
	Format      string    `json:"format,omitempty"`
	Subscribers int64     `json:"subscribers"`
	LastAt      time.Time `json:"last_at"`
}

// Programs are feed readers, each counted as one person.
type Programs struct {
	Readers int64   `json:"readers"`
	Once    int64   `json:"once"` // how many of Readers have sent only one request so far
	List    []Count `json:"list"` // number of readers for each program name
}

// Push counts subscriptions to notifications.
type Push struct {
	Subscriptions int64   `json:"subscriptions"`
	Readers       int64   `json:"readers"` // subscribers not counted as services or programs
	List          []Count `json:"list"`    // number of subscriptions for each protocol
}

// PrivateReaders are readers that open a private feed with their own secret.
type PrivateReaders struct {
	Readers int64 `json:"readers"` // number of secrets that were used
}

// Here are the people of this server who follow the user. The total Report.Readers already contains
// them, because this server counts as one of the Services.
type Here struct {
	Followers int64    `json:"followers"`
	Names     []string `json:"names"` // followers who show publicly that they follow the user
}

// Mail counts the addresses that receive the posts by e-mail. The total Report.Readers does not
// include them.
type Mail struct {
	Each    int64 `json:"each"` // addresses that receive each post at once
	Daily   int64 `json:"daily"`
	Weekly  int64 `json:"weekly"`
	Waiting int64 `json:"waiting"` // addresses that are not confirmed yet
}

// Total returns the number of confirmed addresses.
func (m Mail) Total() int64 { return m.Each + m.Daily + m.Weekly }

// NotCounted lists clients that are not readers.
type NotCounted struct {
	Browsers int64 `json:"browsers"`
	Robots   int64 `json:"robots"`
}

// Count is a number with its name.
type Count struct {
	Name string `json:"name"`
	N    int64  `json:"n"`
}

const maxListed = 50 // maximum number of rows in each list of a Report

// Report returns the audience of a user. days is the length of the daily history.
func (a *Audience) Report(ctx context.Context, user string, days int) (Report, error) {
	if err := a.Flush(ctx); err != nil {
		return Report{}, err
	}
	now := a.now().UTC()
	r, err := a.count(ctx, user, now)
	if err != nil {
		return Report{}, err
	}
	if a.Mail != nil {
		if r.Mail, err = a.Mail(ctx, user); err != nil {
			return r, err
		}
	}
	if a.Here != nil {
		if r.Here, err = a.Here(ctx, user); err != nil {
			return Report{}, err
		}
	}
	r.Days, err = a.history(ctx, user, days, r.day(user, now))
	return r, err
}

func (a *Audience) count(ctx context.Context, user string, now time.Time) (Report, error) {
	if user == "" || strings.Contains(user, "/") {
		return Report{}, fault.New(fault.Invalid, "%q is not the name of a user.", user)
	}
	r := Report{User: user, At: now, WindowDays: int(Window / (24 * time.Hour))}
	public, err := a.Store.SeenOf(ctx, user+"/"+publicFeed, now.Add(-Window), maxSeen)
	if err != nil {
		return Report{}, err
	}
	secret, err := a.Store.SeenOf(ctx, user+"/"+privateFeed, now.Add(-Window), maxSeen)
	if err != nil {
		return Report{}, err
	}
	r.Partial = len(public) == maxSeen || len(secret) == maxSeen
	r.addRequests(public)
	for _, s := range secret {
		if s.Kind == Secret {
			r.Private.Readers++
		}
	}
	if a.Push != nil {
		subs, err := a.Push(ctx, user)
		if err != nil {
			return Report{}, err
		}
		a.addPush(&r, subs, public)
	}
	r.Readers = r.Services.Readers + r.Programs.Readers + r.Push.Readers + r.Private.Readers
	return r, nil
}

// addRequests counts services, programs, browsers and robots.
func (r *Report) addRequests(list []Seen) {
	programs, forms := map[string]int64{}, map[string]int64{}
	for _, s := range list {
		switch s.Kind {
		case Service:
			r.Services.Readers += s.Subscribers
			forms[s.Form] += s.Subscribers
			r.Services.List = append(r.Services.List, ServiceRow{named(s.Name), s.Form, s.Subscribers, s.LastAt})
		case Program:
			r.Programs.Readers++
			if s.Hits == 1 {
				r.Programs.Once++
			}
			forms[s.Form]++
			programs[named(s.Name)]++
		case Browser:
			r.NotCounted.Browsers++
		case Robot:
			r.NotCounted.Robots++
		}
	}
	slices.SortStableFunc(r.Services.List, func(a, b ServiceRow) int {
		return cmp.Or(cmp.Compare(b.Subscribers, a.Subscribers), cmp.Compare(a.Name, b.Name))
	})
	r.Services.List = r.Services.List[:min(len(r.Services.List), maxListed)]
	r.Programs.List, r.Formats = counts(programs), counts(forms)
}

func named(name string) string { return cmp.Or(name, "without a name") }

// counts converts m to a list of at most maxListed rows, largest number first.
func counts(m map[string]int64) []Count {
	list := make([]Count, 0, len(m))
	for name, n := range m {
		list = append(list, Count{name, n})
	}
	slices.SortFunc(list, func(a, b Count) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name)) })
	return list[:min(len(list), maxListed)]
}

// addPush counts subscriptions to notifications. A subscriber also counts as a reader unless a
// program at the callback's address reads the feed, or a service is named like the callback's site.
func (a *Audience) addPush(r *Report, subs []Subscriber, seen []Seen) {
	addresses, names := map[string]bool{}, []string{}
	for _, s := range seen {
		switch s.Kind {
		case Program:
			addresses[s.Address] = true
		case Service:
			names = append(names, plainName(s.Name))
		}
	}
	protocols, hosts := map[string]int64{}, map[string]bool{}
	for _, s := range subs {
		r.Push.Subscriptions++
		protocols[s.Protocol]++
		if hosts[s.Host] { // the same program can subscribe with several protocols or formats
			continue
		}
		hosts[s.Host] = true
		if addr, err := netip.ParseAddr(strings.Trim(s.Host, "[]")); err == nil {
			if !addresses[a.address(addr)] {
				r.Push.Readers++
			}
			continue
		}
		if site := siteName(s.Host); site == "" || !slices.Contains(names, site) {
			r.Push.Readers++
		}
	}
	r.Push.List = counts(protocols)
}

// plainName normalizes a service's name so that it can be compared with siteName: "Feedbin.com" and
// "feedbin" give the same result.
func plainName(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(name), " ")
	if site := siteName(name); site != "" {
		return site
	}
	return name
}

// siteName returns the label before the top-level domain of a host name; "": there is none.
func siteName(host string) string {
	labels := strings.Split(strings.TrimSuffix(strings.ToLower(host), "."), ".")
	if len(labels) < 2 {
		return ""
	}
	return labels[len(labels)-2]
}

// day converts the report to the counts of today.
func (r *Report) day(user string, now time.Time) Day {
	return Day{
		Feed: user, Day: now.Truncate(24 * time.Hour), Readers: r.Readers, Services: r.Services.Readers,
		Programs: r.Programs.Readers, Push: r.Push.Readers, Private: r.Private.Readers,
	}
}

// history returns the daily counts of the last days; the last entry is today.
func (a *Audience) history(ctx context.Context, user string, days int, today Day) ([]Day, error) {
	since := today.Day.AddDate(0, 0, -max(days-1, 0))
	list, err := a.Store.Days(ctx, user, since)
	if err != nil {
		return nil, err
	}
	for _, feed := range []string{publicFeed, privateFeed} {
		requests, err := a.Store.Days(ctx, user+"/"+feed, since)
		if err != nil {
			return nil, err
		}
		list = joinDays(list, requests)
	}
	if n := len(list); n > 0 && list[n-1].Day.Equal(today.Day) {
		today.Requests, today.NotModified = list[n-1].Requests, list[n-1].NotModified
		list[n-1] = today
		return list, nil
	}
	return append(list, today), nil
}

// joinDays adds the request counts in requests to the days in list. Both lists are sorted by day.
func joinDays(list, requests []Day) []Day {
	for _, r := range requests {
		i, found := slices.BinarySearchFunc(list, r.Day, func(d Day, at time.Time) int { return d.Day.Compare(at) })
		if !found {
			list = slices.Insert(list, i, Day{Day: r.Day})
		}
		list[i].Requests += r.Requests
		list[i].NotModified += r.NotModified
	}
	return list
}

// Sweep stores today's counts of all feeds and deletes expired rows. Call it once an hour on one
// node of a cluster.
func (a *Audience) Sweep(ctx context.Context) error {
	if err := a.Flush(ctx); err != nil {
		return err
	}
	now := a.now().UTC()
	after, last := "", ""
	for {
		feeds, err := a.Store.SeenFeeds(ctx, now.Add(-Window), after, 1000)
		if err != nil {
			return err
		}
		for _, feed := range feeds {
			user, _, _ := strings.Cut(feed, "/")
			if after = feed; user == last {
				continue
			}
			last = user
			r, err := a.count(ctx, user, now)
			if err != nil {
				return err
			}
			if err := a.Store.SaveDay(ctx, r.day(user, now)); err != nil {
				return err
			}
		}
		if len(feeds) < 1000 {
			return a.trim(ctx, now)
		}
	}
}

func (a *Audience) trim(ctx context.Context, now time.Time) error {
	keep := cmp.Or(a.Keep, keepDays)
	for _, step := range []func() (int, error){
		func() (int, error) { return a.Store.TrimSeen(ctx, now.Add(-Window), 1000) },
		func() (int, error) { return a.Store.TrimDays(ctx, now.Add(-keep), 1000) },
	} {
		for {
			n, err := step()
			if err != nil {
				return err
			}
			if n < 1000 {
				break
			}
		}
	}
	return nil
}
