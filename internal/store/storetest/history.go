package storetest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

func historyTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"ATaskIsWonOnceEachTime": taskOnce,
		"ATaskThatNeverRanWaitsForItsFirstTime": func(t *testing.T, e *env) {
			e.task(t, e.in(time.Minute), e.in(time.Hour), false)
			e.task(t, e.in(2*time.Minute), e.in(time.Hour), false)
			e.now = e.in(90 * time.Second)
			e.task(t, e.in(-time.Second), e.in(time.Hour), true)
		},
		"ATaskThatRanDoesNotAskForItsFirstTime": func(t *testing.T, e *env) {
			e.task(t, e.now, e.in(time.Minute), true)
			e.now = e.in(time.Minute)
			e.task(t, e.in(time.Hour), e.in(time.Hour), true)
		},
		"NextDueIsTheEarliestOfAll": nextDue,
		"CountsCount":               counts,
		"MinutesComeBackInOrder":    minutes,
		"PingMeansItCanBeWrittenTo": func(t *testing.T, e *env) {
			must(t, e.Ping(e.ctx))
			must(t, e.Ping(e.ctx))
		},
		"ABackupIsWholeAndOverwritesNothing": backup,
	}
}

func (e *env) task(t *testing.T, first, next time.Time, want bool) {
	t.Helper()
	won, err := e.ClaimTask(e.ctx, "sweep", e.now, first, next)
	must(t, err)
	same(t, "won", won, want)
}

func taskOnce(t *testing.T, e *env) {
	e.task(t, e.now, e.in(time.Hour), true)
	e.task(t, e.now, e.in(time.Hour), false)
	e.now = e.in(time.Hour - time.Millisecond)
	e.task(t, e.now, e.in(time.Hour), false)
	e.now = e.in(time.Millisecond)
	e.task(t, e.now, e.in(time.Hour), true)
	e.task(t, e.now, e.in(time.Hour), false)
	won, err := e.ClaimTask(e.ctx, "another", e.now, e.now, e.in(time.Hour))
	must(t, err)
	same(t, "another task", won, true)
}

func nextDue(t *testing.T, e *env) {
	check := func(want time.Time) {
		t.Helper()
		got, err := e.NextDue(e.ctx)
		must(t, err)
		same(t, "next due", got, want)
	}
	check(time.Time{})
	e.followers(t, feed, 1)
	check(time.Time{})
	must(t, e.RecordPing(e.ctx, feed+"2", e.now, e.in(time.Hour), nil))
	check(e.in(time.Hour))
	s := e.sub(feed, "http://127.0.0.1/1")
	s.NextAt = e.in(time.Minute)
	e.follow(t, feed, s)
	check(e.in(time.Minute))
	e.change(t, feed, 0)
	check(e.now)
}

func counts(t *testing.T, e *env) {
	dead, ok, bad := e.sub(feed, "http://127.0.0.1/1"), e.sub(feed, "http://127.0.0.1/2"), e.sub(feed, "http://127.0.0.1/3")
	dead.ExpiresAt, dead.Failures = e.now, 2
	bad.Failures, bad.NextAt = 1, e.in(time.Hour)
	must(t, e.Subscribe(e.ctx, []string{feed}, []hub.Subscription{dead, ok, bad}, []event.Event{e.event(event.KindRegister, "x")}))
	must(t, e.RecordPing(e.ctx, feed+"2", e.now, e.in(time.Hour), nil))
	e.change(t, feed, 0)
	got, err := e.Counts(e.ctx, e.now)
	must(t, err)
	same(t, "counts", got, hub.Counts{Topics: 2, Subscriptions: 2, Failing: 1, Owed: 1, PartsDue: 1, ChecksDue: 1, Events: 1})
}

func minutes(t *testing.T, e *env) {
	var want []hub.Minute
	for i := range 4 {
		at := e.now.Truncate(time.Minute).Add(time.Duration(i/2) * time.Minute)
		want = append(want, hub.Minute{At: at, Node: int64(i % 2), Pings: 1, Checks: 2, Changes: 3, Notified: 1 << 40, Failed: 5, Registers: 6,
			P50: 0.125, P99: 1e6, Queue: 9, Writes: int64(i)})
	}
	for i := range want {
		must(t, e.SaveMinute(e.ctx, want[len(want)-1-i]))
	}
	got, err := e.Minutes(e.ctx, e.in(-time.Hour))
	must(t, err)
	same(t, "all", got, want)
	got, err = e.Minutes(e.ctx, want[2].At)
	must(t, err)
	same(t, "since", got, want[2:])
	want[3].Writes = 99
	must(t, e.SaveMinute(e.ctx, want[3]))
	got, err = e.Minutes(e.ctx, want[2].At)
	must(t, err)
	same(t, "saved again", got, want[2:])
}

func backup(t *testing.T, e *env) {
	e.followers(t, feed, 100)
	file := filepath.Join(t.TempDir(), "copy.db")
	err := e.Backup(e.ctx, file)
	if fault.CodeOf(err) == fault.Unsupported {
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("an unsupported backup left something behind: %v", err)
		}
		return
	}
	must(t, err)
	first, err := os.ReadFile(file)
	must(t, err)
	faulty(t, e.Backup(e.ctx, file), fault.Conflict)
	second, err := os.ReadFile(file)
	must(t, err)
	same(t, "unchanged", string(first) == string(second), true)
	faulty(t, e.Backup(e.ctx, filepath.Join(t.TempDir(), "no", "such", "folder")), fault.Unavailable)
}
