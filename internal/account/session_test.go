package account_test

import (
	"strings"
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
)

const day = 24 * time.Hour

func TestSessionIsExtendedUpToItsMaximum(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		cookie, s, err := w.StartSession(w.ctx, w.user("alice"), "Browser\r\n 1.0\x00 ☂")
		must(t, err)
		if len(cookie) != 43 || strings.Contains(s.ID, cookie) || s.Agent != "Browser 1.0 ☂" || s.User != "alice" {
			t.Errorf("%s, %+v", cookie, s)
		}
		start := time.Now()
		for time.Since(start) < 90*day {
			got, err := w.Session(w.ctx, cookie)
			must(t, err)
			if got.ID != s.ID || got.SeenAt != time.Now().UTC().Truncate(time.Millisecond) && time.Since(got.SeenAt) >= time.Hour {
				t.Fatalf("%+v", got)
			}
			if end := s.CreatedAt.Add(90 * day); got.ExpiresAt.After(end) {
				t.Fatalf("lasts until %v", got.ExpiresAt)
			}
			w.wait(29 * day)
		}
		_, err = w.Session(w.ctx, cookie)
		wantFault(t, err, fault.Refused)

		cookie, _, err = w.StartSession(w.ctx, w.user("alice"), "")
		must(t, err)
		w.wait(30*day - time.Millisecond)
		if list, err := w.Sessions(w.ctx, "alice"); err != nil || len(list) != 1 {
			t.Errorf("%v, %v", list, err)
		}
		w.wait(time.Millisecond)
		_, err = w.Session(w.ctx, cookie)
		wantFault(t, err, fault.Refused)
		if list, err := w.Sessions(w.ctx, "alice"); err != nil || len(list) != 0 {
			t.Errorf("%v, %v", list, err)
		}
	})
}

func TestLastUseOfASessionIsStoredOncePerHour(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		cookie, s, err := w.StartSession(w.ctx, w.user("alice"), "")
		must(t, err)
		for _, want := range []time.Duration{0, 0, 0, time.Hour, time.Hour} {
			_, err := w.Session(w.ctx, cookie)
			must(t, err)
			stored, err := w.store.Session(w.ctx, s.ID)
			must(t, err)
			if got := stored.SeenAt.Sub(s.CreatedAt); got != want {
				t.Errorf("after %v: seen at %v, want %v", time.Since(s.CreatedAt), got, want)
			}
			w.wait(20 * time.Minute)
		}
	})
}

func TestEndedSessionIsRefused(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice", "bob")
		one, a, err := w.StartSession(w.ctx, w.user("alice"), "")
		must(t, err)
		two, b, err := w.StartSession(w.ctx, w.user("alice"), "")
		must(t, err)
		if one == two || a.ID == b.ID {
			t.Fatal("two log-ins have one session")
		}
		must(t, w.EndSession(w.ctx, a.ID))
		_, err = w.Session(w.ctx, one)
		wantFault(t, err, fault.Refused)
		_, err = w.Session(w.ctx, two)
		must(t, err)
		must(t, w.Disable(w.ctx, "alice", true))
		_, err = w.Session(w.ctx, two)
		wantFault(t, err, fault.Refused)
		for _, bad := range []string{"", "x", b.ID, two + "=", two + "\n", two[1:], strings.ToLower(two), strings.Repeat("A", 43), strings.Repeat("A", 1<<16)} {
			_, err := w.Session(w.ctx, bad)
			wantFault(t, err, fault.Refused)
		}
	})
}

func TestUserHasAtMostFiftySessions(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		first, _, err := w.StartSession(w.ctx, w.user("alice"), "")
		must(t, err)
		for range 50 {
			_, err := w.Session(w.ctx, first)
			must(t, err)
			w.wait(time.Minute)
			_, _, err = w.StartSession(w.ctx, w.user("alice"), "")
			must(t, err)
		}
		_, err = w.Session(w.ctx, first)
		wantFault(t, err, fault.Refused)
	})
}

func TestSweepDeletesExpiredSessionsAndNonces(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		_, old, err := w.StartSession(w.ctx, w.user("alice"), "")
		must(t, err)
		w.signIn("alice", right, at(home), ok)
		secret, err := w.NewSecret(w.ctx, "alice", private, "Bob")
		must(t, err)
		header := w.header("alice", secret.Plain)
		_, err = w.OpenByWSSE(w.ctx, "alice", private, header, at(home))
		must(t, err)
		must(t, w.Sweep(w.ctx))
		_, err = w.store.Session(w.ctx, old.ID)
		must(t, err)
		w.wait(366 * day)
		_, fresh, err := w.StartSession(w.ctx, w.user("alice"), "")
		must(t, err)
		must(t, w.Sweep(w.ctx))
		_, err = w.store.Session(w.ctx, old.ID)
		wantFault(t, err, fault.NotFound)
		_, err = w.store.Session(w.ctx, fresh.ID)
		must(t, err)
		if n, err := w.store.SweepAccounts(w.ctx, time.Now(), time.Now(), 10); n != 0 || err != nil {
			t.Errorf("%d left, %v", n, err)
		}
	})
}

func TestPasswordChangePreventsSessionsOfTheOldPassword(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		thief, err := w.Check(w.ctx, "alice", right, at(away))
		must(t, err)
		must(t, w.SetPassword(w.ctx, "alice", "another password")) // the password changes in the millisecond of the log-in
		_, _, err = w.StartSession(w.ctx, thief, "")
		wantFault(t, err, fault.Refused)
		_, err = w.ChangePassword(w.ctx, thief, "the thief's password")
		wantFault(t, err, fault.Conflict)
		w.signIn("alice", "another password", at(home), ok)

		owner, err := w.Check(w.ctx, "alice", "another password", at(home))
		must(t, err)
		now, err := w.ChangePassword(w.ctx, owner, "the third password")
		must(t, err)
		_, _, err = w.StartSession(w.ctx, owner, "")
		wantFault(t, err, fault.Refused)
		cookie, _, err := w.StartSession(w.ctx, now, "")
		must(t, err)
		_, err = w.Session(w.ctx, cookie)
		must(t, err)
		if got := w.user("alice"); got.PasswordAt != now.PasswordAt || !got.PasswordAt.After(owner.PasswordAt) {
			t.Errorf("%+v, %+v", got, now)
		}
		_, err = w.ChangePassword(w.ctx, now, "short")
		wantFault(t, err, fault.Invalid)
	})
}
