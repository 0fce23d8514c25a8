package account_test

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
)

// appSignIn signs a user in and returns the key of the app.
func appSignIn(t *testing.T, w *harness, name, password string) string {
	t.Helper()
	u, err := w.Check(w.ctx, name, password, at(home))
	must(t, err)
	key, err := w.AppKey(u)
	must(t, err)
	return key
}

func TestAppKeyIsValidUntilThePasswordChangesOrTheUserIsDisabled(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice", "bob")
		key := appSignIn(t, w, "alice", right)
		if again := appSignIn(t, w, "alice", right); again != key || strings.ContainsAny(key, " =\n") || !strings.HasPrefix(key, "alice/") {
			t.Fatalf("%q, then %q", key, again)
		}
		good := func() {
			t.Helper()
			u, err := w.AppUser(w.ctx, key, at(away))
			if must(t, err); u.Name != "alice" {
				t.Fatalf("%+v", u)
			}
		}
		bad := func() {
			t.Helper()
			_, err := w.AppUser(w.ctx, key, at(away))
			wantFault(t, err, fault.Refused)
		}
		good()
		w.restart()
		good() // the key is valid after a restart, so it does not depend on data in memory
		must(t, w.Disable(w.ctx, "alice", true))
		bad()
		must(t, w.Disable(w.ctx, "alice", false))
		good()
		must(t, w.SetPassword(w.ctx, "bob", "another password"))
		good()
		must(t, w.SetPassword(w.ctx, "alice", right))
		bad()
		key = appSignIn(t, w, "alice", right)
		good()
		_, digits, _ := strings.Cut(key, "/")
		for _, key = range []string{"", "alice", "alice/", "bob/" + digits, "Alice/" + digits, "alice/" + digits[:62], "alice/" + digits + "00", "alice/x" + digits, "nobody/" + digits} {
			bad()
		}
	})
}

func TestAppKeyOfAnotherServerIsRefused(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		other := &account.Accounts{Store: w.store, Key: []byte("another key another key another "), Options: w.Options}
		u, err := other.Check(w.ctx, "alice", right, at(home))
		must(t, err)
		key, err := other.AppKey(u)
		must(t, err)
		_, err = w.AppUser(w.ctx, key, at(home))
		wantFault(t, err, fault.Refused)
		keyless := &account.Accounts{Store: w.store, Options: w.Options}
		_, err = keyless.AppKey(u)
		wantFault(t, err, fault.Unavailable)
		_, err = keyless.AppUser(w.ctx, key, at(home))
		wantFault(t, err, fault.Unavailable)
	})
}

// keyOf returns the key that a Fever app sends.
func keyOf(name, password string) string {
	sum := md5.Sum([]byte(name + ":" + password))
	return hex.EncodeToString(sum[:])
}

func TestTokenWithReadScopeSignsInFeverApps(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice", "bob")
		plain, made, err := w.NewToken(w.ctx, "alice", "phone", []string{"read"})
		must(t, err)
		writing, _, err := w.NewToken(w.ctx, "alice", "editor", []string{"create", "update"})
		must(t, err)
		for _, key := range []string{keyOf("alice", plain), strings.ToUpper(keyOf("alice", plain))} {
			got, err := w.AppToken(w.ctx, key, at(home))
			must(t, err)
			if got.User != "alice" || got.ID != made.ID {
				t.Errorf("%+v", got)
			}
		}
		for _, key := range []string{"", "x", keyOf("bob", plain), keyOf("alice", right), keyOf("alice", writing), keyOf("alice", plain) + "0", plain, strings.Repeat("g", 32)} {
			_, err := w.AppToken(w.ctx, key, at(home))
			if wantFault(t, err, fault.Refused); errors.Is(err, account.ErrScope) {
				t.Errorf("%q: %v", key, err)
			}
		}
		must(t, w.Disable(w.ctx, "alice", true))
		_, err = w.AppToken(w.ctx, keyOf("alice", plain), at(home))
		wantFault(t, err, fault.Refused)
		must(t, w.Disable(w.ctx, "alice", false))
		_, err = w.AppToken(w.ctx, keyOf("alice", plain), at(home))
		must(t, err)
		must(t, w.RevokeToken(w.ctx, "alice", made.ID))
		_, err = w.AppToken(w.ctx, keyOf("alice", plain), at(home))
		wantFault(t, err, fault.Refused)
	})
}

func TestWrongAppKeysAreCountedAndValidKeysAreAccepted(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		plain, _, err := w.NewToken(w.ctx, "alice", "phone", []string{"read"})
		must(t, err)
		key := appSignIn(t, w, "alice", right)
		from := source(1)
		for range 10 {
			_, err := w.AppToken(w.ctx, keyOf("alice", "guess"), from)
			wantFault(t, err, fault.Refused)
			_, err = w.AppUser(w.ctx, "alice/"+strings.Repeat("0", 64), from)
			wantFault(t, err, fault.Refused)
		}
		_, err = w.AppToken(w.ctx, keyOf("alice", "guess"), from)
		wantFault(t, err, fault.TooMany)
		_, err = w.AppUser(w.ctx, "alice/"+strings.Repeat("0", 64), from)
		wantFault(t, err, fault.TooMany)
		w.signIn("alice", right, from, fault.TooMany)
		_, err = w.AppToken(w.ctx, keyOf("alice", plain), from)
		must(t, err)
		_, err = w.AppUser(w.ctx, key, from)
		must(t, err)
	})
}
