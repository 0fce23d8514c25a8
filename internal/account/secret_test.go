package account_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
)

// unavailableStore is a store whose database is unreachable.
type unavailableStore struct{ account.Store }

var errAway = fault.New(fault.Unavailable, "away")

func (unavailableStore) User(context.Context, string) (account.User, string, error) {
	return account.User{}, "", errAway
}
func (unavailableStore) SecretBySelector(context.Context, string) (account.SealedSecret, error) {
	return account.SealedSecret{}, errAway
}
func (unavailableStore) TokenByHash(context.Context, string) (account.Token, error) {
	return account.Token{}, errAway
}

// readers creates two users with one secret each. Both readers have the same name.
func (w *harness) readers() (a, b account.Secret) {
	w.t.Helper()
	w.add("alice", "bob")
	a, err := w.NewSecret(w.ctx, "alice", private, "Zoë ☂")
	must(w.t, err)
	b, err = w.NewSecret(w.ctx, "bob", private, "Zoë ☂")
	must(w.t, err)
	return a, b
}

func TestSecretGivesAccessToItsFeedOnly(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{Limits: account.Limits{Source: 1000}}, func(t *testing.T, w *harness) {
		a, b := w.readers()
		if len(a.Selector) != 12 || len(a.Plain) != 32 || strings.Contains(a.Plain, ".") || a.Plain == b.Plain {
			t.Fatalf("%+v", a)
		}
		good := func(s account.Secret, err error) {
			t.Helper()
			must(t, err)
			if s.Selector != a.Selector || s.Reader != "Zoë ☂" || s.Plain != "" || s.UsedAt.IsZero() {
				t.Errorf("%+v", s)
			}
		}
		good(w.OpenByURL(w.ctx, "alice", private, a.Selector, a.Plain, at(home)))
		for _, name := range []string{"alice", "Zoë ☂", a.Selector} {
			for _, password := range []string{a.Plain, a.Selector + "." + a.Plain} {
				good(w.OpenByBasic(w.ctx, "alice", private, name, password, at(home)))
				good(w.OpenByWSSE(w.ctx, "alice", private, w.header(name, password), at(home)))
			}
		}
		texts := map[string]bool{}
		bad := func(what string, s account.Secret, err error) {
			t.Helper()
			if fault.CodeOf(err) != fault.Refused || s != (account.Secret{}) {
				t.Errorf("%s: %v, %+v", what, err, s)
			}
			texts[err.Error()] = true
		}
		for name, c := range map[string]struct{ user, feed, selector, secret, reader string }{
			"secret of another":          {"alice", private, b.Selector, b.Plain, "alice"},
			"feed of another":            {"bob", private, a.Selector, a.Plain, "bob"},
			"another feed":               {"alice", "other", a.Selector, a.Plain, "alice"},
			"unknown user":               {"nobody", private, a.Selector, a.Plain, "nobody"},
			"capitals":                   {"Alice", private, a.Selector, a.Plain, "Alice"},
			"selector of a, secret of b": {"alice", private, a.Selector, b.Plain, "alice"},
			"selector of b, secret of a": {"alice", private, b.Selector, a.Plain + "x", "alice"},
			"no selector":                {"alice", private, "", a.Plain + "y", "alice"},
			"no secret":                  {"alice", private, a.Selector, "", "alice"},
			"account password":           {"alice", private, a.Selector, right, "alice"},
			"shorter":                    {"alice", private, a.Selector, a.Plain[:31], "alice"},
			"longer":                     {"alice", private, a.Selector, a.Plain + "A", "alice"},
			"selector in capital":        {"alice", private, strings.ToUpper(a.Selector), a.Plain, "alice"},
			"NUL":                        {"alice", private, a.Selector + "\x00", a.Plain, "alice"},
			"invalid UTF-8":              {"alice\xff", private + "\xff", "\xff", "\xff", "\xff"},
			"very long":                  {"alice", private, strings.Repeat("x", 1<<16), strings.Repeat("x", 1<<16), "alice"},
		} {
			s, err := w.OpenByURL(w.ctx, c.user, c.feed, c.selector, c.secret, at(home))
			bad(name+" in the address", s, err)
			s, err = w.OpenByBasic(w.ctx, c.user, c.feed, c.reader, c.selector+"."+c.secret, at(home))
			bad(name+" by Basic", s, err)
			if name != "selector in capital" && name != "NUL" { // in these two cases, the secret without the selector is correct
				s, err = w.OpenByBasic(w.ctx, c.user, c.feed, c.reader, c.secret, at(home))
				bad(name+" by Basic, alone", s, err)
				s, err = w.OpenByWSSE(w.ctx, c.user, c.feed, w.header(c.reader, c.secret), at(home))
				bad(name+" by WSSE", s, err)
			}
		}
		for _, name := range []string{"", "bob", "Alice", "zoë ☂", "Zoe ☂", b.Selector, "nobody"} {
			s, err := w.OpenByBasic(w.ctx, "alice", private, name, a.Plain, at(home))
			bad("the name "+name, s, err)
			s, err = w.OpenByWSSE(w.ctx, "alice", private, w.header(name+" ", a.Plain), at(home))
			bad("the name with WSSE "+name, s, err)
		}
		if len(texts) != 1 {
			t.Errorf("refusals differ: %v", texts)
		}
	})
}

func TestRevokedSecretIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		a, _ := w.readers()
		open := func() (errs []error) {
			_, err := w.OpenByURL(w.ctx, "alice", private, a.Selector, a.Plain, at(home))
			errs = append(errs, err)
			_, err = w.OpenByBasic(w.ctx, "alice", private, "alice", a.Plain, at(home))
			errs = append(errs, err)
			_, err = w.OpenByWSSE(w.ctx, "alice", private, w.header("alice", a.Plain), at(home))
			return append(errs, err)
		}
		for _, err := range open() {
			must(t, err)
		}
		must(t, w.Disable(w.ctx, "alice", true))
		for _, err := range open() {
			wantFault(t, err, fault.Refused)
		}
		must(t, w.Disable(w.ctx, "alice", false))
		for _, err := range open() {
			must(t, err)
		}
		wantFault(t, w.RevokeSecret(w.ctx, "bob", a.Selector), fault.NotFound)
		must(t, w.RevokeSecret(w.ctx, "alice", a.Selector))
		for _, err := range open() {
			wantFault(t, err, fault.Refused)
		}
		again, err := w.NewSecret(w.ctx, "alice", private, "Zoë ☂")
		must(t, err)
		for _, err := range open() {
			wantFault(t, err, fault.Refused)
		}
		a = again
		for _, err := range open() {
			must(t, err)
		}
	})
}

func TestCorrectSecretIsAcceptedAfterFailuresFromTheSameAddress(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		a, _ := w.readers()
		// Many readers in one network use wrong secrets.
		n, _ := untilTooMany(t, 100, func(i int) error {
			_, err := w.OpenByURL(w.ctx, "alice", private, "gone", fmt.Sprint(i%3), at(home))
			return err
		})
		if n != 20 {
			t.Errorf("stopped after %d", n)
		}
		_, err := w.OpenByURL(w.ctx, "alice", private, a.Selector, a.Plain, at(home))
		must(t, err)
		_, err = w.OpenByBasic(w.ctx, "alice", private, "alice", a.Plain, at(home))
		must(t, err)
		_, err = w.OpenByWSSE(w.ctx, "alice", private, w.header(a.Selector, a.Plain), at(home))
		must(t, err)
		// A header with the user's name is compared with all secrets, at a limited rate.
		_, err = w.OpenByWSSE(w.ctx, "alice", private, w.header("alice", a.Plain), at(home))
		must(t, err)
		for range 59 {
			_, err = w.OpenByWSSE(w.ctx, "alice", private, w.header("alice", "wrong"), at(home))
			wantFault(t, err, fault.TooMany)
		}
		_, err = w.OpenByWSSE(w.ctx, "alice", private, w.header("alice", a.Plain), at(home))
		wantFault(t, err, fault.TooMany)
		w.signIn("alice", right, at(away), ok) // failures with secrets do not lock the account
	})
}

func TestInvalidNamesOfFeedReadersAreRejected(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.readers()
		for _, reader := range []string{"", " ", " Bob", "Bob\n", "a\x00b", "\xff", strings.Repeat("ü", 101)} {
			_, err := w.NewSecret(w.ctx, "alice", private, reader)
			wantFault(t, err, fault.Invalid)
		}
		for _, feed := range []string{"", "../x", "a b", "Private"} {
			_, err := w.NewSecret(w.ctx, "alice", feed, "Bob")
			wantFault(t, err, fault.Invalid)
		}
		_, err := w.NewSecret(w.ctx, "nobody", private, "Bob")
		wantFault(t, err, fault.NotFound)
		_, err = w.NewSecret(w.ctx, "alice", private, "Zoë ☂")
		wantFault(t, err, fault.Conflict)
		w.wait(time.Second)
		_, err = w.NewSecret(w.ctx, "alice", private, strings.Repeat("ü", 100))
		must(t, err)
		list, err := w.Secrets(w.ctx, "alice", private)
		must(t, err)
		if len(list) != 2 || list[0].Plain != "" || list[0].Reader != "Zoë ☂" {
			t.Errorf("%+v", list)
		}
	})
}

func TestLastUseOfASecretIsStoredOncePerMinute(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		a, _ := w.readers()
		for _, want := range []time.Duration{0, 0, 0, time.Minute, time.Minute} {
			_, err := w.OpenByURL(w.ctx, "alice", private, a.Selector, a.Plain, at(home))
			must(t, err)
			list, err := w.Secrets(w.ctx, "alice", private)
			must(t, err)
			if got := list[0].UsedAt.Sub(a.CreatedAt); got != want {
				t.Errorf("used at %v, want %v", got, want)
			}
			w.wait(20 * time.Second)
		}
	})
}

func TestDatabaseContainsNoCredentials(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		a, b := w.readers()
		cookie, _, err := w.StartSession(w.ctx, w.user("alice"), "")
		must(t, err)
		token, _, err := w.NewToken(w.ctx, "alice", "label", account.Scopes())
		must(t, err)
		w.signIn("alice", right, at(home), ok)
		w.restart() // writes all data to the file
		files, err := filepath.Glob(filepath.Join(w.dir, "*"))
		must(t, err)
		read := 0
		for _, file := range files {
			raw, err := os.ReadFile(file)
			must(t, err)
			read += len(raw)
			for _, secret := range []string{a.Plain, b.Plain, cookie, token, token[3:], right, home, string(w.Key)} {
				if bytes.Contains(raw, []byte(secret)) {
					t.Errorf("%s contains %q", filepath.Base(file), secret)
				}
			}
		}
		if read < 10_000 {
			t.Errorf("the database has only %d bytes", read)
		}
	})
}

func TestChangedServerKeyIsReported(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		a, _ := w.readers()
		must(t, w.CheckKey(w.ctx))
		w.restart()
		must(t, w.CheckKey(w.ctx))
		_, err := w.OpenByURL(w.ctx, "alice", private, a.Selector, a.Plain, at(home))
		must(t, err)

		w.restart()
		w.Key = []byte("another key of thirty-two bytes.")
		err = w.CheckKey(w.ctx)
		if wantFault(t, err, fault.Conflict); !strings.Contains(err.Error(), "2 of 2") {
			t.Error(err)
		}
		for i := range 30 {
			_, err = w.OpenByURL(w.ctx, "alice", private, a.Selector, a.Plain, at(home))
			if wantFault(t, err, fault.Unavailable); i == 0 && !strings.Contains(err.Error(), "the key changed") || strings.Contains(fault.Message(err), "key") {
				t.Fatal(err)
			}
			_, err = w.OpenByBasic(w.ctx, "alice", private, "alice", a.Plain, at(home))
			wantFault(t, err, fault.Unavailable)
			_, err = w.OpenByWSSE(w.ctx, "alice", private, w.header("alice", a.Plain), at(home))
			wantFault(t, err, fault.Unavailable)
		}
		fresh, err := w.NewSecret(w.ctx, "alice", private, "new")
		must(t, err)
		_, err = w.OpenByURL(w.ctx, "alice", private, fresh.Selector, fresh.Plain, at(home))
		must(t, err)
		_, err = w.OpenByWSSE(w.ctx, "alice", private, w.header("alice", fresh.Plain), at(home))
		must(t, err)

		// After the last secret of the previous key was revoked, wrong secrets are rejected again.
		all, err := w.Secrets(w.ctx, "alice", private)
		must(t, err)
		bobs, err := w.Secrets(w.ctx, "bob", private)
		must(t, err)
		for _, s := range append(all, bobs...) {
			if s.Selector != fresh.Selector {
				must(t, w.RevokeSecret(w.ctx, s.User, s.Selector))
			}
		}
		_, err = w.OpenByBasic(w.ctx, "alice", private, "alice", a.Plain, at(home))
		wantFault(t, err, fault.Refused)
		must(t, w.CheckKey(w.ctx))

		w.restart()
		w.Key = []byte("short")
		wantFault(t, w.CheckKey(w.ctx), fault.Invalid)
		_, err = w.NewSecret(w.ctx, "alice", private, "no")
		wantFault(t, err, fault.Unavailable)
		_, err = w.OpenByURL(w.ctx, "alice", private, a.Selector, a.Plain, at(home))
		wantFault(t, err, fault.Unavailable)
		w.signIn("alice", right, at(home), ok) // log-ins by password do not need the key
	})
}
