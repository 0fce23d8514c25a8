package account_test

import (
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
)

func TestVerifiedPasswordIsNotHashedAgainForFiveMinutes(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		w.add("bob") // bob has the same password
		attempt := func(what, name, password string, want fault.Code, hashes int64) {
			t.Helper()
			before := w.hashes.Load()
			w.signIn(name, password, at(home), want)
			if n := w.hashes.Load() - before; n != hashes {
				t.Errorf("%s: %d hashes, want %d", what, n, hashes)
			}
		}
		attempt("the first time", "alice", right, ok, 1)
		attempt("again", "alice", right, ok, 0)
		attempt("a wrong password", "alice", wrong, fault.Refused, 1)
		attempt("the same wrong password", "alice", wrong, fault.Refused, 1)
		attempt("another user with the same password", "bob", right, ok, 1)
		w.wait(5*time.Minute - time.Second)
		attempt("just before the end", "alice", right, ok, 0)
		w.wait(time.Second)
		attempt("after five minutes", "alice", right, ok, 1)

		must(t, w.SetPassword(w.ctx, "alice", "another good password"))
		attempt("the former password", "alice", right, fault.Refused, 1)
		attempt("the new password", "alice", "another good password", ok, 1)
		must(t, w.Disable(w.ctx, "bob", true))
		attempt("a disabled user", "bob", right, fault.Refused, 1)
		must(t, w.Disable(w.ctx, "bob", false))
		w.restart()
		attempt("after a restart", "bob", right, ok, 1)
	})
}
