package hubtest

import (
	"fmt"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

const feed = "http://127.0.0.1/feed.xml"

func topicTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"UnknownTopicIsNotFound": func(t *testing.T, e *env) {
			_, err := e.Topic(e.Ctx, 1)
			storetest.WantFault(t, err, fault.NotFound)
		},
		"PingCreatesTopicAndIsClaimedWhenDue": pingIsClaimed,
		"PingedAtNeverGoesBack": func(t *testing.T, e *env) {
			storetest.Must(t, e.RecordPing(e.Ctx, feed, e.In(time.Minute), e.In(time.Minute), nil))
			storetest.Must(t, e.RecordPing(e.Ctx, feed, e.Now, e.In(time.Minute), nil))
			topic, err := e.Topic(e.Ctx, hub.TopicID(feed))
			storetest.Must(t, err)
			storetest.Same(t, "PingedAt", topic.PingedAt, e.In(time.Minute))
		},
		"LaterPingDoesNotDelayCheck": func(t *testing.T, e *env) {
			storetest.Must(t, e.RecordPing(e.Ctx, feed, e.Now, e.In(time.Second), nil))
			storetest.Must(t, e.RecordPing(e.Ctx, feed, e.In(time.Second), e.In(time.Hour), nil))
			topics, err := e.ClaimChecks(e.Ctx, e.In(time.Second), e.In(lease), 10)
			storetest.Must(t, err)
			storetest.Same(t, "topics due", len(topics), 1)
		},
		"EarlierDueTimeOfACheckIsKept": func(t *testing.T, e *env) {
			storetest.Must(t, e.RecordPing(e.Ctx, feed, e.Now, e.In(time.Hour), nil))
			storetest.Must(t, e.RecordPing(e.Ctx, feed, e.In(1), e.In(time.Second), nil))
			topics, err := e.ClaimChecks(e.Ctx, e.In(time.Second), e.In(lease), 10)
			storetest.Must(t, err)
			storetest.Same(t, "topics due", len(topics), 1)
		},
		"ClaimChecksObeysLimitOldestFirst": func(t *testing.T, e *env) {
			for i := range 5 {
				storetest.Must(t, e.RecordPing(e.Ctx, fmt.Sprint(feed, i), e.Now, e.In(time.Duration(-i)*time.Second), nil))
			}
			topics, err := e.ClaimChecks(e.Ctx, e.Now, e.In(lease), 2)
			storetest.Must(t, err)
			storetest.Same(t, "URLs", urls(topics), []string{feed + "4", feed + "3"})
			topics, err = e.ClaimChecks(e.Ctx, e.Now, e.In(lease), 10)
			storetest.Must(t, err)
			storetest.Same(t, "URLs", urls(topics), []string{feed + "2", feed + "1", feed + "0"})
		},
		"TopicsAreListedInOrderOfURLByPages":          topicsByPage,
		"TopicsAreListedByLastChangeAndBySubscribers": topicsInOrder,
		"TopicsAreListedByIDs":                        topicsWithIDs,
		"SearchFindsTitles":                           topicTitles,
		"OnlyUnexpiredSubscribersAreCounted":          liveSubscribers,
		"SearchTreatsEveryCharacterLiterally":         topicSearch,
		"UnicodeAndQuotesAreReadAsWritten":            topicUnicode,
		"FollowedRequiresUnexpiredSubscription":       followed,
		"SubscribersAreCountedByProtocol":             countedSubscribers,
		"TooLongSearchIsRejected": func(t *testing.T, e *env) {
			_, err := e.Topics(e.Ctx, hub.TopicQuery{Match: string(make([]byte, 100_000))})
			storetest.WantFault(t, err, fault.Invalid)
		},
	}
}

func urls(topics []hub.Topic) []string {
	var all []string
	for _, t := range topics {
		all = append(all, t.URL)
	}
	return all
}

func pingIsClaimed(t *testing.T, e *env) {
	storetest.Must(t, e.RecordPing(e.Ctx, feed, e.Now, e.In(time.Second), []event.Event{e.Event(event.KindPing, "pinged")}))
	want := hub.Topic{ID: hub.TopicID(feed), URL: feed, PingedAt: e.Now}
	topic, err := e.Topic(e.Ctx, want.ID)
	storetest.Must(t, err)
	storetest.Same(t, "topic", topic, want)
	storetest.Same(t, "log", e.Log(t), []string{"pinged"})
	topics, err := e.ClaimChecks(e.Ctx, e.Now, e.In(lease), 10)
	storetest.Must(t, err)
	storetest.Same(t, "claimed before the due time", topics, []hub.Topic(nil))
	topics, err = e.ClaimChecks(e.Ctx, e.In(time.Second), e.In(lease), 10)
	storetest.Must(t, err)
	storetest.Same(t, "claimed", topics, []hub.Topic{want})
	topics, err = e.ClaimChecks(e.Ctx, e.In(lease-1), e.In(2*lease), 10)
	storetest.Must(t, err)
	storetest.Same(t, "claimed during the lease", len(topics), 0)
	topics, err = e.ClaimChecks(e.Ctx, e.In(lease), e.In(2*lease), 10)
	storetest.Must(t, err)
	storetest.Same(t, "claimed after the lease", len(topics), 1)
}

func topicsByPage(t *testing.T, e *env) {
	want := []string{"http://127.0.0.1/Z", "http://127.0.0.1/a", "http://127.0.0.1/b", "http://127.0.0.1/ü"}
	for i := range want {
		storetest.Must(t, e.RecordPing(e.Ctx, want[len(want)-1-i], e.Now, e.Now, nil))
	}
	var got []string
	after := ""
	for {
		topics, err := e.Topics(e.Ctx, hub.TopicQuery{After: after, Limit: 2, Now: e.Now})
		storetest.Must(t, err)
		if len(topics) == 0 {
			break
		}
		if len(topics) > 2 {
			t.Fatalf("a page of 2 contains %d", len(topics))
		}
		for _, topic := range topics {
			got = append(got, topic.URL)
		}
		after = topics[len(topics)-1].URL
	}
	storetest.Same(t, "URLs", got, want)
}

func topicsInOrder(t *testing.T, e *env) {
	at := func(i int) string { return fmt.Sprint(feed, i) }
	for i, changed := range []int{2, 0, 1, 2} { // in minutes; two topics changed at the same time
		_, err := e.CommitCheck(e.Ctx, hub.Check{TopicID: hub.TopicID(at(i)), URL: at(i), StartedAt: e.Now, Now: e.In(time.Duration(changed) * time.Minute), Changed: true, Hash: []byte{1}})
		storetest.Must(t, err)
	}
	for i, n := range []int{1, 3, 0, 1} {
		var subs []hub.Subscription
		for k := range n {
			subs = append(subs, e.sub(at(i), fmt.Sprint("http://127.0.0.1/", k)))
		}
		old := e.sub(at(i), "http://127.0.0.1/expired")
		old.ExpiresAt = e.Now
		e.follow(t, at(i), append(subs, old)...)
	}
	first, second := at(0), at(3)
	if hub.TopicID(first) < hub.TopicID(second) {
		first, second = second, first
	}
	for order, want := range map[hub.TopicOrder][]string{
		hub.TopicsByChange:      {first, second, at(2), at(1)},
		hub.TopicsBySubscribers: {at(1), first, second, at(2)},
	} {
		q := hub.TopicQuery{Order: order, Limit: 1, Now: e.Now}
		var got []string
		for range want {
			topics, err := e.Topics(e.Ctx, q)
			storetest.Must(t, err)
			if len(topics) != 1 {
				t.Fatalf("%s: a page of 1 contains %d", order, len(topics))
			}
			got = append(got, topics[0].URL)
			q.Behind = hub.TopicPlace{Value: topics[0].Subscribers, ID: topics[0].ID}
			if order == hub.TopicsByChange {
				q.Behind.Value = topics[0].ChangedAt.UnixMilli()
			}
		}
		storetest.Same(t, "in the order of "+string(order), got, want)
		rest, err := e.Topics(e.Ctx, q)
		storetest.Same(t, "behind the last", []any{len(rest), err}, []any{0, error(nil)})
	}
}

func topicsWithIDs(t *testing.T, e *env) {
	e.follow(t, feed, e.sub(feed, "http://127.0.0.1/1"))
	e.follow(t, feed+"2", e.sub(feed+"2", "http://127.0.0.1/1"))
	topics, err := e.Topics(e.Ctx, hub.TopicQuery{IDs: []int64{hub.TopicID(feed + "2"), 7}})
	storetest.Must(t, err)
	storetest.Same(t, "topics", len(topics), 1)
	storetest.Same(t, "URL and number of subscribers", []any{topics[0].URL, topics[0].Subscribers}, []any{feed + "2", int64(0)})
	topics, err = e.Topics(e.Ctx, hub.TopicQuery{IDs: []int64{}})
	storetest.Same(t, "without ids", []any{len(topics), err}, []any{0, error(nil)})
}

func topicTitles(t *testing.T, e *env) {
	for i, title := range []string{"Scripting News", "100% Äpfel", ""} {
		u := fmt.Sprint(feed, i)
		storetest.Must(t, e.RecordPing(e.Ctx, u, e.Now, e.Now, nil))
		storetest.Must(t, e.SetAbout(e.Ctx, hub.TopicID(u), hub.About{Title: title, Description: "all about pears"}))
	}
	for match, want := range map[string]string{"scripting": feed + "0", "ÄPFEL": feed + "1", "0% ": feed + "1", "pears": "", "title": ""} {
		topics, err := e.Topics(e.Ctx, hub.TopicQuery{Match: match, Now: e.Now})
		storetest.Must(t, err)
		got := ""
		for _, topic := range topics {
			got += topic.URL
		}
		storetest.Same(t, "search for "+match, got, want)
	}
}

func liveSubscribers(t *testing.T, e *env) {
	subs := []hub.Subscription{e.sub(feed, "http://127.0.0.1/1"), e.sub(feed, "http://127.0.0.1/2"), e.sub(feed, "http://127.0.0.1/3")}
	subs[0].ExpiresAt = e.Now // expires at this very moment
	subs[1].ExpiresAt = e.In(time.Millisecond)
	e.follow(t, feed, subs...)
	topics, err := e.Topics(e.Ctx, hub.TopicQuery{Now: e.Now})
	storetest.Must(t, err)
	storetest.Same(t, "topics", len(topics), 1)
	storetest.Same(t, "subscribers", topics[0].Subscribers, int64(2))
}

func topicSearch(t *testing.T, e *env) {
	all := []string{`http://127.0.0.1/100%`, `http://127.0.0.1/aXb`, `http://127.0.0.1/a_b`, `http://127.0.0.1/c\d`, `http://127.0.0.1/it's`, `http://127.0.0.1/ÄPFEL`}
	for _, u := range all {
		storetest.Must(t, e.RecordPing(e.Ctx, u, e.Now, e.Now, nil))
	}
	for match, want := range map[string][]string{
		"%": {all[0]}, "_": {all[2]}, `\`: {all[3]}, "'": {all[4]}, "A_B": {all[2]}, "axB": {all[1]}, "äpfel": {all[5]},
		"HTTP://": all, "nowhere": nil, `%' OR 1=1 --`: nil,
	} {
		topics, err := e.Topics(e.Ctx, hub.TopicQuery{Match: match, Now: e.Now})
		storetest.Must(t, err)
		var got []string
		for _, topic := range topics {
			got = append(got, topic.URL)
		}
		storetest.Same(t, "search for "+match, got, want)
	}
}

func topicUnicode(t *testing.T, e *env) {
	u := "http://127.0.0.1/日本/'\"; DROP TABLE topic; -- 🌧"
	done, err := e.CommitCheck(e.Ctx, hub.Check{TopicID: hub.TopicID(u), URL: u, StartedAt: e.Now, Now: e.Now, Changed: true,
		Hash: []byte{0, 1, 255}, ETag: "\"\xe4\x00'\"", LastModified: "gestern ☂", ContentType: "text/xml; charset=\xff", Size: 1 << 40})
	storetest.Must(t, err)
	topic, err := e.Topic(e.Ctx, hub.TopicID(u))
	storetest.Must(t, err)
	storetest.Same(t, "topic", topic, hub.Topic{ID: hub.TopicID(u), URL: u, Version: 1, Hash: []byte{0, 1, 255}, ETag: "\"\xe4\x00'\"",
		LastModified: "gestern ☂", ContentType: "text/xml; charset=\xff", Size: 1 << 40, FullReads: 1, FullBytes: 1 << 40,
		CheckedAt: e.Now, ChangedAt: e.Now})
	storetest.Same(t, "topic of the check", done.Topic, topic)
}

func countedSubscribers(t *testing.T, e *env) {
	counted := func(at time.Time, want map[string]int64) {
		t.Helper()
		got, err := e.Subscribers(e.Ctx, hub.TopicID(feed), at)
		storetest.Must(t, err)
		storetest.Same(t, "subscribers", got, want)
	}
	counted(e.Now, map[string]int64{})
	a, b, c := e.sub(feed, "http://127.0.0.1/1"), e.sub(feed, "http://127.0.0.1/2"), e.sub(feed, "http://127.0.0.1/3")
	b.Protocol = hub.XMLRPC
	b.ID = hub.SubscriptionID(b.Protocol, b.Callback)
	c.ExpiresAt = c.ExpiresAt.Add(time.Hour)
	for _, s := range []hub.Subscription{a, b, c} {
		e.follow(t, feed, s)
	}
	counted(e.Now, map[string]int64{a.Protocol: 2, hub.XMLRPC: 1})
	counted(a.ExpiresAt, map[string]int64{a.Protocol: 1})
}

func followed(t *testing.T, e *env) {
	check := func(at time.Time, want bool) {
		t.Helper()
		got, err := e.Followed(e.Ctx, hub.TopicID(feed), at)
		storetest.Must(t, err)
		storetest.Same(t, "followed", got, want)
	}
	check(e.Now, false)
	sub := e.sub(feed, "http://127.0.0.1/1")
	e.follow(t, feed, sub)
	check(e.Now, true)
	check(sub.ExpiresAt.Add(-time.Millisecond), true)
	check(sub.ExpiresAt, false)
	_, err := e.Unsubscribe(e.Ctx, []hub.Key{sub.Key()}, nil)
	storetest.Must(t, err)
	check(e.Now, false)
}
