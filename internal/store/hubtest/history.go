package hubtest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

func historyTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"TaskIsClaimedOncePerPeriod": taskOnce,
		"NewTaskWaitsForFirstTime": func(t *testing.T, e *env) {
			e.task(t, e.In(time.Minute), e.In(time.Hour), false)
			e.task(t, e.In(2*time.Minute), e.In(time.Hour), false)
			e.Now = e.In(90 * time.Second)
			e.task(t, e.In(-time.Second), e.In(time.Hour), true)
		},
		"RepeatedTaskIgnoresFirstTime": func(t *testing.T, e *env) {
			e.task(t, e.Now, e.In(time.Minute), true)
			e.Now = e.In(time.Minute)
			e.task(t, e.In(time.Hour), e.In(time.Hour), true)
		},
		"NextDueIsEarliest":       nextDue,
		"CountsAreCorrect":        counts,
		"MinutesAreListedInOrder": minutes,
		"PingWritesToStore": func(t *testing.T, e *env) {
			storetest.Must(t, e.Ping(e.Ctx))
			storetest.Must(t, e.Ping(e.Ctx))
		},
		"BackupIsCompleteAndOverwritesNothing": backup,
	}
}

func (e *env) task(t *testing.T, first, next time.Time, want bool) {
	t.Helper()
	won, err := e.ClaimTask(e.Ctx, "sweep", e.Now, first, next)
	storetest.Must(t, err)
	storetest.Same(t, "won", won, want)
}

func taskOnce(t *testing.T, e *env) {
	e.task(t, e.Now, e.In(time.Hour), true)
	e.task(t, e.Now, e.In(time.Hour), false)
	e.Now = e.In(time.Hour - time.Millisecond)
	e.task(t, e.Now, e.In(time.Hour), false)
	e.Now = e.In(time.Millisecond)
	e.task(t, e.Now, e.In(time.Hour), true)
	e.task(t, e.Now, e.In(time.Hour), false)
	won, err := e.ClaimTask(e.Ctx, "another", e.Now, e.Now, e.In(time.Hour))
	storetest.Must(t, err)
	storetest.Same(t, "another task", won, true)
}

func nextDue(t *testing.T, e *env) {
	check := func(want time.Time) {
		t.Helper()
		got, err := e.NextDue(e.Ctx)
		storetest.Must(t, err)
		storetest.Same(t, "next due", got, want)
	}
	check(time.Time{})
	e.followers(t, feed, 1)
	check(time.Time{})
	storetest.Must(t, e.RecordPing(e.Ctx, feed+"2", e.Now, e.In(time.Hour), nil))
	check(e.In(time.Hour))
	s := e.sub(feed, "http://127.0.0.1/1")
	s.NextAt = e.In(time.Minute)
	e.follow(t, feed, s)
	check(e.In(time.Minute))
	e.change(t, feed, 0)
	check(e.Now)
}

func counts(t *testing.T, e *env) {
	dead, ok, bad := e.sub(feed, "http://127.0.0.1/1"), e.sub(feed, "http://127.0.0.1/2"), e.sub(feed, "http://127.0.0.1/3")
	dead.ExpiresAt, dead.Failures = e.Now, 2
	bad.Failures, bad.NextAt = 1, e.In(time.Hour)
	storetest.Must(t, e.Subscribe(e.Ctx, []string{feed}, []hub.Subscription{dead, ok, bad}, []event.Event{e.Event(event.KindRegister, "x")}))
	storetest.Must(t, e.RecordPing(e.Ctx, feed+"2", e.Now, e.In(time.Hour), nil))
	e.change(t, feed, 0)
	got, err := e.Counts(e.Ctx, e.Now)
	storetest.Must(t, err)
	storetest.Same(t, "counts", got, hub.Counts{Topics: 2, Subscriptions: 2, Failing: 1, Pending: 1, ShardsDue: 1, ChecksDue: 1, Events: 1})
}

func minutes(t *testing.T, e *env) {
	var want []hub.Minute
	for i := range 4 {
		at := e.Now.Truncate(time.Minute).Add(time.Duration(i/2) * time.Minute)
		want = append(want, hub.Minute{At: at, Node: int64(i % 2), Pings: 1, Checks: 2, Changes: 3, Notified: 1 << 40, Failed: 5, Registers: 6,
			P50: 0.125, P99: 1e6, Queue: 9, Writes: int64(i)})
	}
	for i := range want {
		storetest.Must(t, e.SaveMinute(e.Ctx, want[len(want)-1-i]))
	}
	got, err := e.Minutes(e.Ctx, e.In(-time.Hour))
	storetest.Must(t, err)
	storetest.Same(t, "all", got, want)
	got, err = e.Minutes(e.Ctx, want[2].At)
	storetest.Must(t, err)
	storetest.Same(t, "since", got, want[2:])
	want[3].Writes = 99
	storetest.Must(t, e.SaveMinute(e.Ctx, want[3]))
	got, err = e.Minutes(e.Ctx, want[2].At)
	storetest.Must(t, err)
	storetest.Same(t, "saved again", got, want[2:])
}

func backup(t *testing.T, e *env) {
	e.followers(t, feed, 100)
	file := filepath.Join(t.TempDir(), "copy.db")
	err := e.Backup(e.Ctx, file)
	if fault.CodeOf(err) == fault.Unsupported {
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("an unsupported backup left a file: %v", err)
		}
		return
	}
	storetest.Must(t, err)
	first, err := os.ReadFile(file)
	storetest.Must(t, err)
	storetest.WantFault(t, e.Backup(e.Ctx, file), fault.Conflict)
	second, err := os.ReadFile(file)
	storetest.Must(t, err)
	storetest.Same(t, "unchanged", string(first) == string(second), true)
	storetest.WantFault(t, e.Backup(e.Ctx, filepath.Join(t.TempDir(), "no", "such", "folder")), fault.Unavailable)
}
