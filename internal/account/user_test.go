package account_test

import (
	"encoding/base64"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
)

func TestRefusedSignInsAreIndistinguishable(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice", "gone")
		must(t, w.Disable(w.ctx, "gone", true))
		texts := map[string]bool{}
		for _, c := range []struct{ name, password string }{
			{"alice", wrong}, {"nobody", wrong}, {"nobody", right}, {"gone", wrong}, {"gone", right}, {"Alice", right}, {"", ""}, {"alice", ""},
			{"alice", strings.Repeat("x", 5000)}, {"nobody", strings.Repeat("x", 5000)}, {"alice", right + "\x00"},
		} {
			before := w.hashes.Load()
			_, err := w.Check(w.ctx, c.name, c.password, at(home))
			wantFault(t, err, fault.Refused)
			texts[err.Error()+"|"+fault.Message(err)] = true
			if n := w.hashes.Load() - before; n != 1 {
				t.Errorf("%s: %d hashes, want one in every case", c.name, n)
			}
		}
		if len(texts) != 1 {
			t.Errorf("refusals differ: %v", texts)
		}
	})
}

func TestEnabledUserCanSignInAgain(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		must(t, w.Disable(w.ctx, "alice", true))
		w.signIn("alice", right, at(home), fault.Refused)
		_, _, err := w.StartSession(w.ctx, w.user("alice"), "")
		wantFault(t, err, fault.NotFound)
		must(t, w.Disable(w.ctx, "alice", false))
		w.signIn("alice", right, at(home), ok)
		wantFault(t, w.Disable(w.ctx, "nobody", true), fault.NotFound)
	})
}

func TestNewPasswordReplacesTheOldOne(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		cookie, _, err := w.StartSession(w.ctx, w.user("alice"), "")
		must(t, err)
		w.wait(time.Hour)
		wantFault(t, w.SetPassword(w.ctx, "alice", "short"), fault.Invalid)
		_, err = w.Session(w.ctx, cookie)
		must(t, err)
		must(t, w.SetPassword(w.ctx, "alice", "another password"))
		_, err = w.Session(w.ctx, cookie)
		wantFault(t, err, fault.Refused)
		w.signIn("alice", right, at(home), fault.Refused)
		w.signIn("alice", "another password", at(home), ok)
		u, err := w.User(w.ctx, "alice")
		must(t, err)
		if u.PasswordAt.Sub(u.CreatedAt) != time.Hour {
			t.Errorf("%+v", u)
		}
		wantFault(t, w.SetPassword(w.ctx, "nobody", right), fault.NotFound)
	})
}

func TestOutdatedHashIsReplacedAtSignIn(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{Memory: 64, Passes: 1}, func(t *testing.T, w *harness) {
		w.add("alice")
		hash := func() string {
			_, h, err := w.store.User(w.ctx, "alice")
			must(t, err)
			return h
		}
		if !strings.HasPrefix(hash(), "$argon2id$v=19$m=64,t=1,p=1$") {
			t.Errorf("stored as %s", hash())
		}
		w.Options.Memory, w.Options.Passes = 0, 0
		w.restart()
		w.signIn("alice", wrong, at(home), fault.Refused)
		if !strings.HasPrefix(hash(), "$argon2id$v=19$m=64,") {
			t.Error("a wrong password changed the hash")
		}
		before := w.hashes.Load()
		w.signIn("alice", right, at(home), ok)
		if !strings.HasPrefix(hash(), "$argon2id$v=19$m=19456,t=2,p=1$") || w.hashes.Load()-before != 2 {
			t.Errorf("stored as %s after %d hashes", hash(), w.hashes.Load()-before)
		}
		before = w.hashes.Load()
		w.signIn("alice", right, at(home), ok)
		if w.hashes.Load()-before != 1 {
			t.Error("the hash is replaced at each log-in")
		}
	})
}

func TestEveryPasswordIsRefusedIfTheStoredHashIsInvalid(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{Limits: account.Limits{Name: 100, Source: 100}}, func(t *testing.T, w *harness) {
		w.add("alice")
		_, good, err := w.store.User(w.ctx, "alice")
		must(t, err)
		for _, bad := range []string{
			"", "plain", "$argon2i$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$", strings.Replace(good, "v=19", "v=16", 1), strings.Replace(good, "m=19456", "m=4194304", 1),
			strings.Replace(good, "t=2", "t=0", 1), strings.Replace(good, "t=2", "t=4000000000", 1), strings.Replace(good, "m=19456", "m=-1", 1),
			good[:len(good)-4], good + "AAAA", good + "$", strings.Replace(good, "$argon2id", "x$argon2id", 1),
		} {
			_, err := w.store.SetUserPassword(w.ctx, "alice", bad, time.Now(), time.Time{})
			must(t, err)
			w.signIn("alice", right, at(home), fault.Refused)
		}
		_, err = w.store.SetUserPassword(w.ctx, "alice", good, time.Now(), time.Time{})
		must(t, err)
		w.signIn("alice", right, at(home), ok)
	})
}

func TestLastSignInIsStoredOncePerHour(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		start := time.Now()
		seen := func() time.Duration {
			u, err := w.User(w.ctx, "alice")
			must(t, err)
			return u.SeenAt.Sub(start)
		}
		w.signIn("alice", right, at(home), ok)
		w.wait(59 * time.Minute)
		w.signIn("alice", right, at(home), ok)
		if seen() != 0 {
			t.Errorf("seen after %v", seen())
		}
		w.signIn("alice", right, at(away), ok) // alice has not logged in from this address before
		w.wait(time.Hour)
		w.signIn("alice", wrong, at(home), fault.Refused)
		if seen() != 59*time.Minute {
			t.Errorf("seen after %v", seen())
		}
		w.signIn("alice", right, at(home), ok)
		if seen() != 119*time.Minute {
			t.Errorf("seen after %v", seen())
		}
	})
}

func TestFirstUserNeedsTheSetupToken(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		token := w.SetupToken()
		if len(token) < 20 || token != w.SetupToken() {
			t.Fatalf("token %q, then %q", token, w.SetupToken())
		}
		for _, bad := range []string{"", token + "x", token[1:], strings.ToUpper(token)} {
			_, err := w.AddFirst(w.ctx, bad, "alice", right, at(home))
			wantFault(t, err, fault.Refused)
		}
		_, err := w.AddFirst(w.ctx, token, "login", right, at(home))
		wantFault(t, err, fault.Invalid)
		// Of many concurrent calls, one succeeds.
		errs := make([]error, 10)
		var group sync.WaitGroup
		for i := range errs {
			group.Go(func() { _, errs[i] = w.AddFirst(w.ctx, token, "user"+string(rune('a'+i)), right, source(i)) })
		}
		group.Wait()
		made := 0
		for _, err := range errs {
			if err == nil {
				made++
				continue
			}
			wantFault(t, err, fault.Refused)
		}
		if n, err := w.Count(w.ctx); made != 1 || n != 1 || err != nil {
			t.Errorf("%d created, %d stored, %v", made, n, err)
		}
		if w.SetupToken() != "" {
			t.Error("SetupToken is not empty although there is a user")
		}
		_, err = w.AddFirst(w.ctx, token, "late", right, at(home))
		wantFault(t, err, fault.Refused)
		w.restart()
		if w.SetupToken() != "" {
			t.Error("SetupToken is not empty after a restart")
		}
	})
}

func TestGuessesOfTheSetupTokenAreLimited(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		for range 20 {
			_, err := w.AddFirst(w.ctx, "guess", "alice", right, at(home))
			wantFault(t, err, fault.Refused)
		}
		_, err := w.AddFirst(w.ctx, w.SetupToken(), "alice", right, at(home))
		wantFault(t, err, fault.TooMany)
		w.wait(fault.RetryAfter(err))
		_, err = w.AddFirst(w.ctx, w.SetupToken(), "alice", right, at(home))
		must(t, err)
	})
}

func TestAccountRegistrationsAreRateLimited(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		register := func(i int, from account.Caller) error {
			_, err := w.Register(w.ctx, "user"+strings.Repeat("x", i%20)+string(rune('a'+i/20)), right, from)
			return err
		}
		for i := range 5 {
			must(t, register(i, at(home)))
		}
		wantFault(t, register(5, at("192.0.2.200")), fault.TooMany)
		for i := 6; i < 101; i++ {
			must(t, register(i, source(i)))
		}
		err := register(101, source(101))
		wantFault(t, err, fault.TooMany)
		w.wait(fault.RetryAfter(err))
		must(t, register(101, at(home)))
	})
}

const (
	composed   = "pass\u00e9 compos\u00e9 \uac01"               // text in the normal form NFC
	decomposed = "passe\u0301 compose\u0301 \u1100\u1161\u11a8" // the same text in NFD
	wideSpaces = "pass\u00e9\u00a0compos\u00e9\u3000\uac01"     // the same text with other spaces
)

func TestPasswordIsComparedInUnicodeNormalForm(t *testing.T) {
	t.Parallel()
	for _, set := range []string{composed, decomposed, wideSpaces} {
		withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
			w.add("alice")
			must(t, w.SetPassword(w.ctx, "alice", set))
			_, err := w.Add(w.ctx, "bob", set)
			must(t, err)
			_, err = w.Register(w.ctx, "carol", set, at(home))
			must(t, err)
			for _, name := range []string{"alice", "bob", "carol"} {
				for _, typed := range []string{composed, decomposed, wideSpaces} {
					w.signIn(name, typed, at(home), ok)
				}
				w.signIn(name, strings.ReplaceAll(composed, "\u00e9", "e"), at(home), fault.Refused)
			}
		})
	}
}

// setLegacyHash stores a hash as earlier versions did: the hash of the password as the user typed
// it.
func (w *harness) setLegacyHash(name, password string) {
	w.t.Helper()
	salt := strings.Repeat("s", 16)
	sum := w.hash([]byte(password), []byte(salt), 2, 19<<10)
	w.hashes.Add(-1)
	raw := base64.RawStdEncoding.EncodeToString
	_, err := w.store.SetUserPassword(w.ctx, name, "$argon2id$v=19$m=19456,t=2,p=1$"+raw([]byte(salt))+"$"+raw(sum), time.Now(), time.Time{})
	must(w.t, err)
}

func TestLegacyHashIsReplacedAtSignIn(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		w.setLegacyHash("alice", decomposed)
		set := w.user("alice").PasswordAt
		w.signIn("alice", composed, at(home), fault.Refused)
		w.signIn("alice", decomposed, at(home), ok)
		w.restart()
		for _, typed := range []string{composed, wideSpaces, decomposed} {
			w.wait(time.Hour) // wait until the verified password must be hashed again
			before := w.hashes.Load()
			w.signIn("alice", typed, at(home), ok)
			if n := w.hashes.Load() - before; n != 1 {
				t.Errorf("%q: %d hashes", typed, n)
			}
		}
		if now := w.user("alice").PasswordAt; !now.Equal(set) { // sessions and app keys depend on the time of the password
			t.Errorf("the password was set at %v, want %v", now, set)
		}
	})
}

func TestPasswordLengthIsCountedInUnicodeNormalForm(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		syllables := func(n int, of string) string { return strings.Repeat(of, n) }
		must(t, w.SetPassword(w.ctx, "alice", syllables(341, "\u1100\u1161\u11a8"))) // 3,069 bytes, which are 1,023 after normalization
		w.signIn("alice", syllables(341, "\uac01"), at(home), ok)
		for _, bad := range []string{syllables(342, "\uac01"), syllables(342, "\u1100\u1161\u11a8"), "", "e\u0301e\u0301e\u0301", "\u212blice1"} {
			wantFault(t, w.SetPassword(w.ctx, "alice", bad), fault.Invalid)
		}
		// Both spellings of a wrong password are hashed, for existing and for unknown users.
		for _, name := range []string{"alice", "nobody"} {
			before := w.hashes.Load()
			w.signIn(name, decomposed, at(home), fault.Refused)
			if n := w.hashes.Load() - before; n != 2 {
				t.Errorf("%s: %d hashes", name, n)
			}
		}
	})
}
