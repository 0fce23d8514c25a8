package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/authortest"
	"cloudburst/internal/store/hubsql"
	"cloudburst/internal/store/hubtest"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/store/storetest"
)

func TestTwoProcessesNeverClaimTheSameRow(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	hubtest.Claims(t, open(t, url), open(t, url))
}

func TestTwoProcessesHandleEachSubscriptionRequestOnce(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	hubtest.Requests(t, open(t, url), open(t, url))
}

func TestTwoProcessesListAndCountEveryChange(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	hubtest.Announcements(t, open(t, url), open(t, url))
}

func TestTwoProcessesLoseNoChangeOfAWriter(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	authortest.WritersTogether(t, open(t, url), open(t, url))
}

func TestTwoProcessesKeepPostsAndDocumentsSeparate(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	authortest.PostsAndDocuments(t, open(t, url), open(t, url))
}

func TestTwoProcessesSaveCompleteFiles(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	authortest.FilesTogether(t, open(t, url), open(t, url))
}

func TestConcurrentInsertIsRetried(t *testing.T) {
	t.Parallel()
	s := open(t, storetest.Postgres(t))
	tries := 0
	err := s.Write(t.Context(), func(ctx context.Context, c sqldb.Conn) error {
		tries++
		_, err := c.Exec(ctx, `INSERT INTO topic (id, url) VALUES (1, 'one')`)
		if err == nil && tries < 3 { // cause a unique violation of a key that ON CONFLICT does not name
			_, err = c.Exec(ctx, `INSERT INTO topic (id, url) VALUES (2, 'one') ON CONFLICT (id) DO NOTHING`)
		}
		return err
	})
	if err != nil || tries != 3 {
		t.Errorf("after %d tries: %v", tries, err)
	}
}

func TestConcurrentStartsOnEmptyDatabase(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			s, err := Open(t.Context(), Options{URL: url})
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Ping(t.Context()); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

func TestRecoverKeepsClaimsOfOtherProcesses(t *testing.T) {
	t.Parallel()
	s := open(t, storetest.Postgres(t))
	now := time.UnixMilli(1_790_000_000_000)
	if err := s.RecordPing(t.Context(), "http://127.0.0.1/feed", now, now, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ClaimChecks(t.Context(), now, now.Add(time.Minute), 1); err != nil {
		t.Fatal(err)
	}
	if err := s.Recover(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	if next, err := s.NextDue(t.Context()); err != nil || !next.Equal(now.Add(time.Minute)) {
		t.Errorf("due at %v (%v), want the end of the lease", next, err)
	}
}

func TestNewerSchemaIsRejected(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	s := open(t, url)
	if _, err := s.db.ExecContext(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)`); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Options{URL: url})
	if fault.CodeOf(err) != fault.Unsupported || !strings.Contains(err.Error(), "9999") {
		t.Fatalf("got %v, want an error that names schema 9999", err)
	}
}

func TestConnectionErrorHidesPassword(t *testing.T) {
	t.Parallel()
	good := storetest.Postgres(t)
	missing := good[:strings.LastIndex(good, "/")] + "/no_such_database"
	for url, code := range map[string]fault.Code{
		"postgres://me:geheim@127.0.0.1:1/x":            fault.Unavailable,
		"postgres://127.0.0.1:1/x?password=geheim":      fault.Unavailable,
		"postgres://me:geheim@127.0.0.1:notaport/x":     fault.Invalid,
		"host=127.0.0.1 port=1 user=me password=geheim": fault.Unavailable,
		missing: fault.NotFound,
	} {
		_, err := Open(t.Context(), Options{URL: url})
		if fault.CodeOf(err) != code {
			t.Errorf("%s: got %v, want %s", url, err, code)
		}
		if err != nil && strings.Contains(fault.Message(err), "geheim") {
			t.Errorf("the password is in %q", fault.Message(err))
		}
	}
}

func TestChangeHintIsSentToOtherProcesses(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	a, b := open(t, url), open(t, url)
	ctx, cancel := context.WithCancel(t.Context())
	mine, theirs := a.Hints(ctx), b.Hints(ctx)
	waitForHint(t, mine) // the first hint reports that listening has started
	waitForHint(t, theirs)
	for range 1000 {
		a.Hint()
	}
	waitForHint(t, theirs)
	b.Hint()
	waitForHint(t, mine)
	cancel()
	for range mine { // ends because the channel is closed
	}
	for range theirs {
	}
}

func TestProcessIgnoresItsOwnChangeHints(t *testing.T) {
	t.Parallel()
	h := newHints(nil, slog.New(slog.DiscardHandler))
	defer h.close()
	c := make(chan struct{}, 1)
	h.listeners[c] = struct{}{}
	h.onNotice(h.self)
	if len(c) != 0 {
		t.Error("a process received its own hint")
	}
	h.onNotice("another")
	h.onNotice("another")
	if len(c) != 1 {
		t.Errorf("%d hints of others are waiting, want one", len(c))
	}
}

// waitForHint waits for one hint.
func waitForHint(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(2 * time.Minute):
		t.Fatal("no hint arrived")
	}
}

func TestChangeHintsAreRateLimited(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	a, b := open(t, url), open(t, url)
	c := b.Hints(t.Context())
	waitForHint(t, c)
	end := time.After(500 * time.Millisecond)
	received := 0
	for open := true; open; {
		a.Hint()
		select {
		case <-c:
			received++
		case <-end:
			open = false
		default:
		}
	}
	if received == 0 || received > 11 { // 20 hints per second is 10, plus the first hint, which is sent immediately
		t.Errorf("%d hints within half a second, want 1 to 11", received)
	}
}

// fill stores n subscriptions of a feed and returns its only shard.
func fill(t testing.TB, s *Store, feed string, n int) hub.Shard {
	t.Helper()
	now := time.UnixMilli(1_790_000_000_000)
	id := hub.TopicID(feed)
	for from := 0; from < n; from += 5000 {
		subs := make([]hub.Subscription, min(5000, n-from))
		for i := range subs {
			subs[i] = hub.Subscription{TopicID: id, Protocol: hub.HTTPPost, Callback: fmt.Sprintf("http://127.0.0.1/callback/%d", from+i),
				CreatedAt: now, RenewedAt: now, ExpiresAt: now.Add(25 * time.Hour)}
		}
		if err := s.Subscribe(t.Context(), []string{feed}, subs, nil); err != nil {
			t.Fatal(err)
		}
	}
	return hub.Shard{TopicID: id, Hi: hub.Buckets - 1}
}

// readAll reads the whole shard in batches and returns the number of rows.
func readAll(t testing.TB, s *Store, p hub.Shard) int {
	t.Helper()
	total, after := 0, int64(0)
	for {
		rows, err := s.Batch(t.Context(), p, after, time.UnixMilli(1_790_000_000_000), 500)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 {
			return total
		}
		total += len(rows)
		after = rows[len(rows)-1].ID
	}
}

// TestSubscriptionBatchIsReadByPrimaryKey checks the plan: with other settings, or a plan made when the table was
// small, PostgreSQL collects and sorts a whole topic for each batch.
func TestSubscriptionBatchIsReadByPrimaryKey(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t)
	s := open(t, storetest.Postgres(t))
	p := fill(t, s, "http://127.0.0.1/small", 3)
	for range 10 { // enough calls for a cached plan
		readAll(t, s, p)
	}
	explain(t, s, p)
	p = fill(t, s, "http://127.0.0.1/large", 100_000)
	explain(t, s, p)
	if got := readAll(t, s, p); got != 100_000 {
		t.Fatalf("%d rows in all batches, want 100,000", got)
	}
	if _, err := s.db.ExecContext(t.Context(), `ANALYZE`); err != nil {
		t.Fatal(err)
	}
	explain(t, s, p)
}

// explain checks the custom and the generic plan of a batch in the middle of the shard.
func explain(t *testing.T, s *Store, p hub.Shard) {
	t.Helper()
	conn, err := s.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	text, err := sqldb.Postgres().Text(hubsql.BatchText)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
		if _, err := conn.ExecContext(t.Context(), `SELECT set_config('plan_cache_mode', $1, false)`, mode); err != nil {
			t.Fatal(err)
		}
		var raw []byte
		err := conn.QueryRowContext(t.Context(), `EXPLAIN (ANALYZE, FORMAT JSON) `+text.SQL,
			p.TopicID, int64(hub.Buckets/2), int64(1)<<62, int64(p.Hi), int64(1_790_000_000_000), 500).Scan(&raw)
		if err != nil {
			t.Fatal(err)
		}
		var nodes []string
		var plans []struct{ Plan planNode }
		if err := json.Unmarshal(raw, &plans); err != nil {
			t.Fatal(err)
		}
		plans[0].Plan.walk(func(n planNode) { nodes = append(nodes, strings.TrimSpace(n.Type+" "+n.Index)) })
		if got, want := strings.Join(nodes, ", "), "Limit, Index Scan subscription_pkey"; got != want {
			t.Errorf("%s: the plan is %q, want %q\n%s", mode, got, want, raw)
		}
		if read := plans[0].Plan.Plans[0].Rows; read > 500 {
			t.Errorf("%s: a batch of 500 reads %v rows", mode, read)
		}
	}
	if _, err := conn.ExecContext(t.Context(), `RESET plan_cache_mode`); err != nil {
		t.Fatal(err)
	}
}

type planNode struct {
	Type  string     `json:"Node Type"`
	Index string     `json:"Index Name"`
	Rows  float64    `json:"Actual Rows"`
	Plans []planNode `json:"Plans"`
}

func (n planNode) walk(visit func(planNode)) {
	visit(n)
	for _, p := range n.Plans {
		p.walk(visit)
	}
}

func BenchmarkReadBatchesOf100kSubscriptions(b *testing.B) {
	s := open(b, storetest.Postgres(b))
	p := fill(b, s, "http://127.0.0.1/feed", 100_000)
	b.ResetTimer()
	rows := 0
	for b.Loop() {
		rows += readAll(b, s, p)
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/100k")
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkSubscribe256AtOnce(b *testing.B) {
	s := open(b, storetest.Postgres(b))
	hubtest.Upserts(b, s, 256)
}
