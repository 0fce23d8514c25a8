package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"modernc.org/sqlite"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

func TestEveryConnectionSyncsEachCommitToDisk(t *testing.T) {
	t.Parallel()
	s := open(t, Options{Readers: 3})
	var conns []*sql.Conn
	for range 3 {
		c, err := s.rdb.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		conns = append(conns, c)
	}
	for _, c := range append(conns, s.writer.conn) {
		for name, want := range map[string]string{"synchronous": "2", "journal_mode": "wal", "foreign_keys": "1", "busy_timeout": "5000"} {
			var got string
			if err := c.QueryRowContext(t.Context(), "PRAGMA "+name).Scan(&got); err != nil || got != want {
				t.Errorf("PRAGMA %s reads %q (%v), want %q", name, got, err, want)
			}
		}
	}
}

func TestConnectionWithoutSyncIsRejected(t *testing.T) {
	t.Parallel()
	for spoilt, settings := range map[string][]string{
		"journal_mode": {"journal_mode = DELETE", "synchronous = FULL", "foreign_keys = ON"},
		"synchronous":  {"journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"},
		"foreign_keys": {"journal_mode = WAL", "synchronous = FULL", "foreign_keys = OFF"},
		"":             {"journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"},
	} {
		conn, err := (&sqlite.Driver{}).Open(filepath.Join(t.TempDir(), File))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		for _, s := range settings {
			if err := execute(t.Context(), conn, "PRAGMA "+s); err != nil {
				t.Fatal(err)
			}
		}
		err = verify(t.Context(), conn)
		if spoilt == "" && err != nil {
			t.Error(err)
		}
		if spoilt != "" && (err == nil || !strings.Contains(err.Error(), spoilt)) {
			t.Errorf("%s: got %v", settings, err)
		}
	}
}

func TestReadConnectionsCannotWrite(t *testing.T) {
	t.Parallel()
	s := open(t, Options{})
	if _, err := s.rdb.ExecContext(t.Context(), `DELETE FROM topic`); err == nil {
		t.Error("a reader can write")
	}
}

func TestLargeDatabaseFileIsCheckedInBackground(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t)
	dir, good := closed(t, 10_000)
	rng := rand.New(rand.NewPCG(3, 4))
	bad := bytes.Clone(good)
	for range len(good) / 50 { // damage the second half, whose subscriptions are not read when the store is opened
		bad[len(good)/2+rng.IntN(len(good)/2)] ^= 0xff
	}
	if err := os.WriteFile(filepath.Join(dir, File), bad, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, Options{Dir: dir, CheckWhole: 1})
	<-s.checked
	if err := s.Ping(t.Context()); fault.CodeOf(err) != fault.Unavailable || !strings.Contains(fault.Message(err), "damaged") {
		t.Errorf("Ping on a damaged file: %v", err)
	}
}

func TestLargeValidDatabaseFilePassesCheck(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t)
	dir, _ := closed(t, 100)
	s := open(t, Options{Dir: dir, CheckWhole: 1})
	<-s.checked
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestEveryStatementUsesAnIndex checks the plan of every statement of a simulated day. Only
// listings and counts may scan a table.
func TestEveryStatementUsesAnIndex(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t)
	s := open(t, Options{})
	callStore(t, s)
	placeholders := regexp.MustCompile(`\$\d+`)
	checked := 0
	for _, stmts := range []*statements{s.reader(), s.writer.stmts} {
		for text := range stmts.known {
			if strings.Contains(text, "COUNT(*)") || strings.Contains(text, "INSERT INTO") && !strings.Contains(text, "FROM (SELECT") {
				continue
			}
			translated, err := stmts.dialect.Text(text)
			if err != nil {
				t.Fatal(err)
			}
			names := placeholders.FindAllString(translated.SQL, -1)
			slices.Sort(names)
			args := make([]any, len(slices.Compact(names)))
			var plan []string
			rows, err := s.rdb.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+translated.SQL, args...)
			if err != nil {
				t.Fatalf("%v: %s", err, translated.SQL)
			}
			for rows.Next() {
				var id, parent, unused int
				var detail string
				if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
					t.Fatal(err)
				}
				plan = append(plan, detail)
				complete := strings.HasPrefix(detail, "SCAN") && !strings.Contains(detail, "USING") && detail != "SCAN CONSTANT ROW" && detail != "SCAN l"
				if complete || strings.Contains(detail, "TEMP B-TREE") {
					t.Errorf("%s\n\t%s", detail, translated.SQL)
				}
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
			checked++
			for condition, index := range map[string]string{"e.topic_id =": "event_topic", "s.next_at <=": "subscription_next",
				"s.expires_at <=": "subscription_expires", "s.failures >=": "subscription_failing", "t.used_at <": "topic_used", "e.at <": "event_at",
				"i.due_at <=": "intent_due", "i.at <": "intent_at", "c.at >=": "change_at", "t.is_full AND": "topic_full",
				"s.protocol = 'websub'": "subscription_websub"} {
				if strings.Contains(translated.SQL, condition) && strings.HasPrefix(translated.SQL, "SELECT") && !strings.Contains(strings.Join(plan, "\n"), index) {
					t.Errorf("%q does not use %s: %s", condition, index, plan)
				}
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d statements were checked", checked)
	}
}

// callStore calls every important method.
func callStore(t *testing.T, s *Store) {
	t.Helper()
	ctx, now := t.Context(), moment()
	until := now.Add(time.Minute)
	p := fill(t, s, 10)
	ev := []event.Event{{Node: 1, Seq: 1, At: now, Kind: event.KindPing}}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(s.RecordPing(ctx, feed, now, now, ev))
	_, err := s.ClaimChecks(ctx, now, until, 10)
	do(err)
	_, err = s.CommitCheck(ctx, hub.Check{TopicID: p.TopicID, URL: feed, StartedAt: now, Now: now, Changed: true})
	do(err)
	shards, err := s.ClaimShards(ctx, 1, now, until, 10)
	do(err)
	readAll(t, s, shards[0])
	var results []hub.Result
	for o := hub.Delivered; o <= hub.Raised; o++ {
		results = append(results, hub.Result{Key: subscription(int(o)).Key(), Version: 1, Outcome: o, NextAt: now})
	}
	_, err = s.Checkpoint(ctx, hub.Checkpoint{Shard: shards[0], Now: now, Pos: 1, Until: until, Results: results})
	do(err)
	do(s.ReleaseShards(ctx, now, shards))
	shards, err = s.ClaimShards(ctx, 1, now, until, 10)
	do(err)
	_, err = s.Checkpoint(ctx, hub.Checkpoint{Shard: shards[0], Now: now, Finish: true})
	do(err)
	do(s.Split(ctx, p.TopicID, 2))
	_, err = s.ClaimRetries(ctx, now, until, 10, 1)
	do(err)
	callWebSub(t, s)
	callRest(t, s, p)
}

// callWebSub calls the methods for WebSub and for recent changes.
func callWebSub(t *testing.T, s *Store) {
	t.Helper()
	ctx, now := t.Context(), moment()
	until := now.Add(time.Minute)
	id := hub.TopicID(feed)
	about := hub.About{Self: feed, Home: "http://127.0.0.1/"}
	sub := subscription(20)
	sub.Protocol = hub.WebSub
	in := hub.Intent{TopicID: id, ID: 1, Topic: feed, Mode: hub.ModeSubscribe, At: now, DueAt: now}
	change := hub.Change{Node: 1, Seq: 1, At: now, Name: "x"}
	requested := s.Request(ctx, []hub.Intent{in}, nil)
	intents, err1 := s.ClaimIntents(ctx, now, until, 10, 1)
	if err := errors.Join(requested, err1); err != nil || len(intents) != 1 {
		t.Fatal(err, intents)
	}
	_, err1 = s.FinishIntent(ctx, hub.IntentResult{Intent: intents[0], Again: &in})
	in.Claim = 0
	_, err2 := s.FinishIntent(ctx, hub.IntentResult{Intent: in, Subscription: &sub})
	for _, body := range [][]byte{nil, []byte("x")} {
		topic, err3 := s.Topic(ctx, id)
		_, err4 := s.CommitCheck(ctx, hub.Check{TopicID: id, Base: topic.Version, StartedAt: now, Now: now, Changed: true, Body: body, About: &about, Listed: []hub.Change{change}})
		err1 = errors.Join(err1, err3, err4)
	}
	_, err3 := s.Content(ctx, id)
	_, err4 := s.Following(ctx, []string{feed, "http://127.0.0.1"}, 0, now, 10)
	_, err5 := s.Intents(ctx)
	_, err6 := s.CountChanges(ctx)
	announced := s.Announce(ctx, []hub.Change{change}, []string{feed}, now, now, nil)
	_, err7 := s.Changes(ctx, hub.ChangeQuery{Before: event.Cursor{At: 5}})
	_, err8 := s.Changes(ctx, hub.ChangeQuery{Since: now, After: event.Cursor{At: 5}, Forward: true})
	_, err9 := s.TrimChanges(ctx, now, 10)
	if err := errors.Join(err1, err2, err3, err4, err5, err6, announced, err7, err8, err9); err != nil {
		t.Fatal(err)
	}
}

// callRest calls the remaining methods.
func callRest(t *testing.T, s *Store, p hub.Shard) {
	t.Helper()
	ctx, now := t.Context(), moment()
	until := now.Add(time.Minute)
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Unsubscribe(ctx, []hub.Key{subscription(8).Key()}, nil)
	do(err)
	_, _, err = s.Sweep(ctx, now.Add(26*time.Hour), 3, 5, now, nil)
	do(err)
	_, _, err = s.Sweep(ctx, now.Add(26*time.Hour), 3, 100, now.Add(100*time.Hour), nil)
	do(err)
	_, err = s.Followed(ctx, p.TopicID, now)
	do(err)
	_, err = s.NextDue(ctx)
	do(err)
	_, err = s.Events(ctx, hub.EventQuery{Before: event.Cursor{At: 5}})
	do(err)
	_, err = s.Events(ctx, hub.EventQuery{TopicID: p.TopicID, After: event.Cursor{At: 5}, Forward: true})
	do(err)
	_, err = s.TrimEvents(ctx, now, 10)
	do(err)
	_, err = s.ClaimTask(ctx, "x", now, now, until)
	do(err)
	do(s.SaveMinute(ctx, hub.Minute{At: now}))
	_, err = s.Minutes(ctx, now)
	do(err)
	do(s.Recover(ctx, now))
	_, err = s.Topics(ctx, hub.TopicQuery{After: "a"})
	do(err)
	_, err = s.Subscriptions(ctx, hub.SubscriptionQuery{TopicID: p.TopicID, After: hub.Key{TopicID: 1, ID: 1}})
	do(err)
	_, _ = s.Topic(ctx, 1)
	_, _ = s.Subscription(ctx, hub.Key{})
	do(s.Ping(ctx))
}

func (s *Store) reader() *statements { return s.Engine.(*engine).reader }

func TestFailedOperationDoesNotAffectOthersInItsBatch(t *testing.T) {
	t.Parallel()
	s := open(t, Options{})
	// Block the writer while operations queue up, so that they share one transaction.
	entered, leave := make(chan struct{}), make(chan struct{})
	errs := make(chan error, 100)
	go func() { errs <- s.Write(t.Context(), blocker(entered, leave)) }()
	<-entered
	answers := make([]chan error, 99)
	for i := range answers {
		answers[i] = make(chan error, 1)
		go func() { answers[i] <- s.Write(t.Context(), insertTask(fmt.Sprint(i), i%20 == 3, i%20 == 13)) }()
	}
	for len(s.writer.operations) < len(answers) {
		runtime.Gosched()
	}
	close(leave)
	if err := <-errs; err != nil {
		t.Fatal(err)
	}
	for i, c := range answers {
		if err := <-c; (err != nil) != (i%10 == 3) {
			t.Errorf("operation %d: %v", i, err)
		}
	}
	var n int
	if err := s.rdb.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM task`).Scan(&n); err != nil || n != 89 {
		t.Errorf("%d rows (%v), want 89", n, err)
	}
}

// blocker blocks the writer until leave is closed.
func blocker(entered, leave chan struct{}) func(context.Context, sqldb.Conn) error {
	return func(context.Context, sqldb.Conn) error {
		close(entered)
		<-leave
		return nil
	}
}

// insertTask writes a row and then fails if it is bad or worse. If worse, it uses a statement that
// returns rows.
func insertTask(name string, bad, worse bool) func(context.Context, sqldb.Conn) error {
	return func(ctx context.Context, c sqldb.Conn) error {
		const text = `INSERT INTO task (name, due_at) VALUES ($1, 1)`
		if worse {
			err := c.Query(ctx, text+` RETURNING name`, func(*sql.Rows) error { return nil }, name)
			return errors.Join(err, errors.New("worse"))
		}
		_, err := c.Exec(ctx, text, name)
		if err == nil && bad {
			err = errors.New("bad")
		}
		return err
	}
}
