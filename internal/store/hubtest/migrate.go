package hubtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

// FirstRows returns statements that fill tables of the first schema.
func FirstRows() []string {
	id, sub := hub.TopicID(feed), hub.SubscriptionID(hub.HTTPPost, "http://127.0.0.1/1")
	return []string{
		fmt.Sprintf(`INSERT INTO topic (id, url, version, size, checked_at, changed_at, used_at) VALUES (%d, '%s', 7, 12, 1790000000000, 1790000000000, 1790000000000)`, id, feed),
		fmt.Sprintf(`INSERT INTO part (topic_id, part, lo, hi, want, done, pass) VALUES (%d, 0, 0, 65535, 7, 7, 7)`, id),
		fmt.Sprintf(`INSERT INTO subscription (topic_id, bucket, id, protocol, callback, proc, created_at, renewed_at, expires_at, failures, last_error, last_error_at)
			VALUES (%d, %d, %d, 'http-post', 'http://127.0.0.1/1', '', 1790000000000, 1790000000000, 1790000090000, 1, 'it said 500', 1790000000001)`, id, hub.Bucket(sub), sub),
		fmt.Sprintf(`INSERT INTO event (node, seq, at, kind, topic_id, topic, ok, text, door, peer, took, told, failed, version)
			VALUES (1, 1, 1790000000000, 'ping', %d, '%s', TRUE, 'pinged', 'rest', '', 0, 0, 0, 7)`, id, feed),
	}
}

// Migrated checks that a store still has the rows of FirstRows and can use them.
func Migrated(t *testing.T, s hub.Store) {
	e := newEnv(t, s)
	e.Now = time.UnixMilli(1_790_000_000_000).UTC()
	topic, err := e.Topic(e.Ctx, hub.TopicID(feed))
	storetest.Must(t, err)
	storetest.Same(t, "topic", topic, hub.Topic{ID: hub.TopicID(feed), URL: feed, Version: 7, Size: 12, CheckedAt: e.Now, ChangedAt: e.Now})
	old := e.sub(feed, "http://127.0.0.1/1")
	old.ExpiresAt, old.Failures, old.LastError, old.LastErrorAt = e.In(90*time.Second), 1, "it said 500", e.In(time.Millisecond)
	storetest.Same(t, "subscription", e.get(t, old.Key()), old)
	storetest.Same(t, "log", e.Log(t), []string{"pinged"})
	e.noContent(t, feed)
	e.counted(t, 0)
	e.waiting(t, 0)
	e.follow(t, feed, e.websub(feed, "http://127.0.0.1/2"))
	done := e.changeTo(t, "new")
	storetest.Same(t, "version", done.Topic.Version, int64(8))
	e.content(t, feed, 8, "new")
	p := e.claim(t)
	page, err := e.Batch(e.Ctx, p[0], 0, e.Now, 10)
	storetest.Must(t, err)
	storetest.Same(t, "subscriptions to notify", len(page), 2)
	e.announce(t, e.listed("first"))
	e.counted(t, 1)
}

// BeforeTitles is the last schema version that stores the title of a topic only in its description.
const BeforeTitles = 22

// TitleRows returns statements that fill the table topic of the schema BeforeTitles. bytes returns
// an SQL literal of bytes, given in hexadecimal digits.
func TitleRows(bytes func(hex string) string) (rows []string) {
	for i, about := range []string{`{"title":"Scripting «News»"}`, `{"description":"a feed"}`, `{"title":"with \u0000"}`} {
		rows = append(rows, fmt.Sprintf(`INSERT INTO topic (id, url, about) VALUES (%d, '%s%d', %s)`, hub.TopicID(fmt.Sprint(feed, i)), feed, i, bytes(fmt.Sprintf("%x", about))))
	}
	return rows
}

// TitlesMigrated checks that a store with TitleRows finds a topic by its title.
func TitlesMigrated(t *testing.T, s hub.Store) {
	e := newEnv(t, s)
	for match, want := range map[string]int{"«news»": 1, "with": 0, "a feed": 0, feed: 3} {
		topics, err := e.Topics(e.Ctx, hub.TopicQuery{Match: match, Now: e.Now})
		storetest.Must(t, err)
		storetest.Same(t, "search for "+match, len(topics), want)
	}
}

// BeforePrivateEvents is the last schema version whose log may show private feeds.
const BeforePrivateEvents = 40

// PrivateEventRows returns statements that fill the table event of the schema BeforePrivateEvents.
func PrivateEventRows() (rows []string) {
	secret := "http://127.0.0.1/alice/private/abcdefghij12." + strings.Repeat("K_-9", 8) + "/rss.xml"
	for i, e := range [][4]string{
		{"ping", feed, "kept", "rest"}, {"register", feed, "also kept", "rest"}, {"check", feed, "kept, too", "relay"}, {"ping", secret, "topic", "rest"},
		{"ping", "", "refused " + secret, "rest"}, {"register", feed, "a feed of the reader", "relay"}, {"drop", feed, "no longer a feed of the reader", "relay"},
	} {
		rows = append(rows, fmt.Sprintf(`INSERT INTO event (node, seq, at, kind, topic_id, topic, ok, text, door, peer, took, told, failed, version)
			VALUES (1, %d, 1790000000000, '%s', %d, '%s', TRUE, '%s', '%s', '', 0, 0, 0, 0)`, i+1, e[0], hub.TopicID(e[1]), e[1], e[2], e[3]))
	}
	return rows
}

// PrivateEventsMigrated checks that the log of a store with PrivateEventRows shows no private feed.
func PrivateEventsMigrated(t *testing.T, s hub.Store) {
	e := newEnv(t, s)
	log := e.Log(t)
	slices.Sort(log)
	storetest.Same(t, "log", log, []string{"also kept", "kept", "kept, too"})
}
