package account_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
)

func TestTokenIsAcceptedForItsScopesUntilRevoked(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice", "bob")
		plain, made, err := w.NewToken(w.ctx, "alice", "My editor ☂", []string{"update", "create", "create"})
		must(t, err)
		if !strings.HasPrefix(plain, "cb_") || len(plain) != 46 || !slices.Equal(made.Scopes, []string{"create", "update"}) {
			t.Errorf("%s, %+v", plain, made)
		}
		for _, scope := range []string{"", "create", "update"} {
			got, err := w.Token(w.ctx, plain, scope, at(home))
			must(t, err)
			if got.User != "alice" || got.Label != "My editor ☂" || got.ID != made.ID {
				t.Errorf("%+v", got)
			}
		}
		for range 50 { // a token without the scope is not counted as a failure
			_, err := w.Token(w.ctx, plain, "delete", at(home))
			if wantFault(t, err, fault.Refused); !errors.Is(err, account.ErrScope) || !strings.Contains(fault.Message(err), "delete") {
				t.Fatal(err)
			}
		}
		for _, bad := range []string{"", "cb_", plain[3:], plain + "x", strings.ToUpper(plain), plain + "\n", "CB_" + plain[3:], made.ID} {
			_, err := w.Token(w.ctx, bad, "create", at(home))
			if wantFault(t, err, fault.Refused); errors.Is(err, account.ErrScope) {
				t.Errorf("%q: %v", bad, err)
			}
		}
		must(t, w.Disable(w.ctx, "alice", true))
		_, err = w.Token(w.ctx, plain, "create", at(home))
		wantFault(t, err, fault.Refused)
		must(t, w.Disable(w.ctx, "alice", false))
		wantFault(t, w.RevokeToken(w.ctx, "bob", made.ID), fault.NotFound)
		_, err = w.Token(w.ctx, plain, "create", at(home))
		must(t, err)
		must(t, w.RevokeToken(w.ctx, "alice", made.ID))
		_, err = w.Token(w.ctx, plain, "create", at(home))
		wantFault(t, err, fault.Refused)
		if list, err := w.Tokens(w.ctx, "alice"); err != nil || len(list) != 0 {
			t.Errorf("%v, %v", list, err)
		}
	})
}

func TestInvalidTokenScopesAndLabelsAreRejected(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		for _, scopes := range [][]string{nil, {"admin"}, {"read", "Read"}, {"read,create"}, {""}} {
			_, _, err := w.NewToken(w.ctx, "alice", "x", scopes)
			wantFault(t, err, fault.Invalid)
		}
		for _, label := range []string{"a\nb", "\x00", "\xff", strings.Repeat("ü", 101)} {
			_, _, err := w.NewToken(w.ctx, "alice", label, account.Scopes())
			wantFault(t, err, fault.Invalid)
		}
		_, _, err := w.NewToken(w.ctx, "nobody", "", account.Scopes())
		wantFault(t, err, fault.NotFound)
		for range 100 {
			_, _, err := w.NewToken(w.ctx, "alice", strings.Repeat("ü", 100), account.Scopes())
			must(t, err)
		}
		_, _, err = w.NewToken(w.ctx, "alice", "", account.Scopes())
		wantFault(t, err, fault.Conflict)
	})
}

func TestLastUseOfATokenIsStoredOncePerMinute(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		plain, made, err := w.NewToken(w.ctx, "alice", "", account.Scopes())
		must(t, err)
		for _, want := range []time.Duration{0, 0, 0, time.Minute, time.Minute} {
			_, err := w.Token(w.ctx, plain, "read", at(home))
			must(t, err)
			list, err := w.Tokens(w.ctx, "alice")
			must(t, err)
			if got := list[0].UsedAt.Sub(made.CreatedAt); got != want {
				t.Errorf("used at %v, want %v", got, want)
			}
			w.wait(20 * time.Second)
		}
	})
}
