package storetest

import (
	"fmt"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

const feed = "http://127.0.0.1/feed.xml"

func topicTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"AnUnknownTopicIsNotFound": func(t *testing.T, e *env) {
			_, err := e.Topic(e.ctx, 1)
			faulty(t, err, fault.NotFound)
		},
		"APingMakesTheTopicAndIsClaimedOnceDue": pingIsClaimed,
		"PingedAtNeverGoesBack": func(t *testing.T, e *env) {
			must(t, e.RecordPing(e.ctx, feed, e.in(time.Minute), e.in(time.Minute), nil))
			must(t, e.RecordPing(e.ctx, feed, e.now, e.in(time.Minute), nil))
			topic, err := e.Topic(e.ctx, hub.TopicID(feed))
			must(t, err)
			same(t, "PingedAt", topic.PingedAt, e.in(time.Minute))
		},
		"ALaterPingDoesNotPutOffTheCheck": func(t *testing.T, e *env) {
			must(t, e.RecordPing(e.ctx, feed, e.now, e.in(time.Second), nil))
			must(t, e.RecordPing(e.ctx, feed, e.in(time.Second), e.in(time.Hour), nil))
			topics, err := e.ClaimChecks(e.ctx, e.in(time.Second), e.in(lease), 10)
			must(t, err)
			same(t, "topics due", len(topics), 1)
		},
		"AnEarlierDueTimeCounts": func(t *testing.T, e *env) {
			must(t, e.RecordPing(e.ctx, feed, e.now, e.in(time.Hour), nil))
			must(t, e.RecordPing(e.ctx, feed, e.in(1), e.in(time.Second), nil))
			topics, err := e.ClaimChecks(e.ctx, e.in(time.Second), e.in(lease), 10)
			must(t, err)
			same(t, "topics due", len(topics), 1)
		},
		"ClaimChecksObeysItsLimitOldestFirst": func(t *testing.T, e *env) {
			for i := range 5 {
				must(t, e.RecordPing(e.ctx, fmt.Sprint(feed, i), e.now, e.in(time.Duration(-i)*time.Second), nil))
			}
			topics, err := e.ClaimChecks(e.ctx, e.now, e.in(lease), 2)
			must(t, err)
			same(t, "URLs", urls(topics), []string{feed + "4", feed + "3"})
			topics, err = e.ClaimChecks(e.ctx, e.now, e.in(lease), 10)
			must(t, err)
			same(t, "URLs", urls(topics), []string{feed + "2", feed + "1", feed + "0"})
		},
		"ListsInOrderOfURLPageByPage":       topicsByPage,
		"CountsOnlyLiveSubscribers":         liveSubscribers,
		"SearchTakesEveryCharacterAsItIs":   topicSearch,
		"UnicodeAndQuotesComeBackTheSame":   topicUnicode,
		"FollowedMeansALiveSubscription":    followed,
		"SubscribersCountTheLiveByProtocol": countedSubscribers,
		"ATooLongSearchIsRefused": func(t *testing.T, e *env) {
			_, err := e.Topics(e.ctx, hub.TopicQuery{Match: string(make([]byte, 100_000))})
			faulty(t, err, fault.Invalid)
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
	must(t, e.RecordPing(e.ctx, feed, e.now, e.in(time.Second), []event.Event{e.event(event.KindPing, "pinged")}))
	want := hub.Topic{ID: hub.TopicID(feed), URL: feed, PingedAt: e.now}
	topic, err := e.Topic(e.ctx, want.ID)
	must(t, err)
	same(t, "topic", topic, want)
	same(t, "log", e.log(t), []string{"pinged"})
	topics, err := e.ClaimChecks(e.ctx, e.now, e.in(lease), 10)
	must(t, err)
	same(t, "claimed before it is due", topics, []hub.Topic(nil))
	topics, err = e.ClaimChecks(e.ctx, e.in(time.Second), e.in(lease), 10)
	must(t, err)
	same(t, "claimed", topics, []hub.Topic{want})
	topics, err = e.ClaimChecks(e.ctx, e.in(lease-1), e.in(2*lease), 10)
	must(t, err)
	same(t, "claimed while another has it", len(topics), 0)
	topics, err = e.ClaimChecks(e.ctx, e.in(lease), e.in(2*lease), 10)
	must(t, err)
	same(t, "claimed when the lease is over", len(topics), 1)
}

func topicsByPage(t *testing.T, e *env) {
	want := []string{"http://127.0.0.1/Z", "http://127.0.0.1/a", "http://127.0.0.1/b", "http://127.0.0.1/ü"}
	for i := range want {
		must(t, e.RecordPing(e.ctx, want[len(want)-1-i], e.now, e.now, nil))
	}
	var got []string
	after := ""
	for {
		topics, err := e.Topics(e.ctx, hub.TopicQuery{After: after, Limit: 2, Now: e.now})
		must(t, err)
		if len(topics) == 0 {
			break
		}
		if len(topics) > 2 {
			t.Fatalf("a page of 2 holds %d", len(topics))
		}
		for _, topic := range topics {
			got = append(got, topic.URL)
		}
		after = topics[len(topics)-1].URL
	}
	same(t, "URLs", got, want)
}

func liveSubscribers(t *testing.T, e *env) {
	subs := []hub.Subscription{e.sub(feed, "http://127.0.0.1/1"), e.sub(feed, "http://127.0.0.1/2"), e.sub(feed, "http://127.0.0.1/3")}
	subs[0].ExpiresAt = e.now // not live any more at that very moment
	subs[1].ExpiresAt = e.in(time.Millisecond)
	e.follow(t, feed, subs...)
	topics, err := e.Topics(e.ctx, hub.TopicQuery{Now: e.now})
	must(t, err)
	same(t, "topics", len(topics), 1)
	same(t, "subscribers", topics[0].Subscribers, int64(2))
}

func topicSearch(t *testing.T, e *env) {
	all := []string{`http://127.0.0.1/100%`, `http://127.0.0.1/aXb`, `http://127.0.0.1/a_b`, `http://127.0.0.1/c\d`, `http://127.0.0.1/it's`, `http://127.0.0.1/ÄPFEL`}
	for _, u := range all {
		must(t, e.RecordPing(e.ctx, u, e.now, e.now, nil))
	}
	for match, want := range map[string][]string{
		"%": {all[0]}, "_": {all[2]}, `\`: {all[3]}, "'": {all[4]}, "A_B": {all[2]}, "axB": {all[1]}, "äpfel": {all[5]},
		"HTTP://": all, "nowhere": nil, `%' OR 1=1 --`: nil,
	} {
		topics, err := e.Topics(e.ctx, hub.TopicQuery{Match: match, Now: e.now})
		must(t, err)
		var got []string
		for _, topic := range topics {
			got = append(got, topic.URL)
		}
		same(t, "search for "+match, got, want)
	}
}

func topicUnicode(t *testing.T, e *env) {
	u := "http://127.0.0.1/日本/'\"; DROP TABLE topic; -- 🌧"
	done, err := e.CommitCheck(e.ctx, hub.Check{TopicID: hub.TopicID(u), URL: u, StartedAt: e.now, Now: e.now, Changed: true,
		Hash: []byte{0, 1, 255}, ETag: "\"\xe4\x00'\"", LastModified: "gestern ☂", ContentType: "text/xml; charset=\xff", Size: 1 << 40})
	must(t, err)
	topic, err := e.Topic(e.ctx, hub.TopicID(u))
	must(t, err)
	same(t, "topic", topic, hub.Topic{ID: hub.TopicID(u), URL: u, Version: 1, Hash: []byte{0, 1, 255}, ETag: "\"\xe4\x00'\"",
		LastModified: "gestern ☂", ContentType: "text/xml; charset=\xff", Size: 1 << 40, FullReads: 1, FullBytes: 1 << 40,
		CheckedAt: e.now, ChangedAt: e.now})
	same(t, "topic of the check", done.Topic, topic)
}

func countedSubscribers(t *testing.T, e *env) {
	counted := func(at time.Time, want map[string]int64) {
		t.Helper()
		got, err := e.Subscribers(e.ctx, hub.TopicID(feed), at)
		must(t, err)
		same(t, "subscribers", got, want)
	}
	counted(e.now, map[string]int64{})
	a, b, c := e.sub(feed, "http://127.0.0.1/1"), e.sub(feed, "http://127.0.0.1/2"), e.sub(feed, "http://127.0.0.1/3")
	b.Protocol = hub.XMLRPC
	b.ID = hub.SubscriptionID(b.Protocol, b.Callback)
	c.ExpiresAt = c.ExpiresAt.Add(time.Hour)
	for _, s := range []hub.Subscription{a, b, c} {
		e.follow(t, feed, s)
	}
	counted(e.now, map[string]int64{a.Protocol: 2, hub.XMLRPC: 1})
	counted(a.ExpiresAt, map[string]int64{a.Protocol: 1})
}

func followed(t *testing.T, e *env) {
	check := func(at time.Time, want bool) {
		t.Helper()
		got, err := e.Followed(e.ctx, hub.TopicID(feed), at)
		must(t, err)
		same(t, "followed", got, want)
	}
	check(e.now, false)
	sub := e.sub(feed, "http://127.0.0.1/1")
	e.follow(t, feed, sub)
	check(e.now, true)
	check(sub.ExpiresAt.Add(-time.Millisecond), true)
	check(sub.ExpiresAt, false)
	_, err := e.Unsubscribe(e.ctx, []hub.Key{sub.Key()}, nil)
	must(t, err)
	check(e.now, false)
}
