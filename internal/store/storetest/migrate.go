package storetest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/river"
)

// Migrations are the texts of the first n, with the tokens of their dialect.
func Migrations(t *testing.T, n int) (texts []string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", "sqldb", "migrations", "*.sql"))
	must(t, err)
	slices.Sort(names)
	for _, name := range names[:n] {
		raw, err := os.ReadFile(name)
		must(t, err)
		texts = append(texts, string(raw))
	}
	return texts
}

// BeforeConsent is the last schema in which notices had no consent of their recipients.
const BeforeConsent = 16

// NoticeRows are statements that fill the table of notices of that schema.
func NoticeRows() (rows []string) {
	for id, n := range []struct {
		sent   int
		paused string
	}{{3, "FALSE"}, {0, "FALSE"}, {0, "TRUE"}, {1, "TRUE"}} {
		rows = append(rows, fmt.Sprintf(`INSERT INTO notice (id, reader, source_id, category, via, target, secret, created_at, paused, sent, last_at, failures, problem, next_at, claim)
			VALUES (%d, 'ann', 0, '', 'webhook', 'http://hook%d.example/', NULL, 1790000000000, %s, %d, 1790000000000, 0, '', NULL, 0)`, id+1, id+1, n.paused, n.sent))
	}
	return rows
}

// NoticesMigrated checks that a store which NoticeRows were written to forwards what was
// taken before, and asks about the rest.
func NoticesMigrated(t *testing.T, st hub.Store) {
	e := newEnv(t, st)
	s := e.stream(t)
	same(t, "states", s.states("ann"), []string{river.NoticeConfirmed, river.NoticeWaiting, river.NoticeWaiting, river.NoticeConfirmed})
	due, err := s.ClaimNotices(s.ctx, s.now, s.in(time.Minute), 10, 5)
	must(t, err)
	same(t, "to be asked", []any{len(due), due[0].ID}, []any{1, int64(2)})
}

// FirstRows are statements that fill tables of the first schema.
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

// Migrated checks that a store which FirstRows were written to has kept them, and
// goes on with them.
func Migrated(t *testing.T, s hub.Store) {
	e := newEnv(t, s)
	e.now = time.UnixMilli(1_790_000_000_000).UTC()
	topic, err := e.Topic(e.ctx, hub.TopicID(feed))
	must(t, err)
	same(t, "topic", topic, hub.Topic{ID: hub.TopicID(feed), URL: feed, Version: 7, Size: 12, CheckedAt: e.now, ChangedAt: e.now})
	old := e.sub(feed, "http://127.0.0.1/1")
	old.ExpiresAt, old.Failures, old.LastError, old.LastErrorAt = e.in(90*time.Second), 1, "it said 500", e.in(time.Millisecond)
	same(t, "subscription", e.get(t, old.Key()), old)
	same(t, "log", e.log(t), []string{"pinged"})
	e.noContent(t, feed)
	e.counted(t, 0)
	e.waiting(t, 0)
	e.follow(t, feed, e.websub(feed, "http://127.0.0.1/2"))
	done := e.changeTo(t, "new")
	same(t, "version", done.Topic.Version, int64(8))
	e.content(t, feed, 8, "new")
	p := e.claim(t)
	page, err := e.Page(e.ctx, p[0], 0, e.now, 10)
	must(t, err)
	same(t, "to tell", len(page), 2)
	e.announce(t, e.listed("first"))
	e.counted(t, 1)
	same(t, "the first post", e.publish(t, "alice", "One").ID, int64(1))
}
