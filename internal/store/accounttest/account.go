package accounttest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/storetest"
)

func accountTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"UserIsReadAsWritten":                   wholeUser,
		"NamesAreComparedBytewise":              exactNames,
		"UsersAreListedByName":                  usersByPage,
		"OneOfConcurrentFirstUsersIsCreated":    oneFirstUser,
		"FirstUserIsCreatedOnlyOnce":            noFirstUser,
		"NewPasswordEndsSessions":               newPassword,
		"RehashRequiresUnchangedPassword":       rehash,
		"DisabledUserHasNoAccess":               disabledUser,
		"LastSignInAddressesAreKnown":           lastPlaces,
		"SessionIsReadAsWrittenUntilItEnds":     wholeSession,
		"OldestSessionsAreRemovedAtLimit":       oldSessions,
		"TokenIsReadAsWrittenUntilItIsRemoved":  wholeToken,
		"TokensPerUserAreLimited":               manyTokens,
		"SecretIsReadAsWrittenUntilItIsRemoved": wholeSecret,
		"ReaderHasOneSecretPerFeed":             oneSecret,
		"SecretsPerFeedAreLimited":              manySecrets,
		"ConcurrentUseOfNonceSucceedsOnce":      oneNonce,
		"UsedNonceIsNeverFresh":                 pairsOfNonces,
		"SweepRemovesExpiredRows":               sweepAccounts,
	}
}

// accounts returns the store as an account.Store.
func (e *env) accounts(t *testing.T) account.Store {
	t.Helper()
	s, ok := e.Store.(account.Store)
	if !ok {
		t.Fatalf("%T is not an account.Store", e.Store)
	}
	return s
}

func (e *env) newUser(name string) account.User {
	return account.User{Name: name, CreatedAt: e.Now, PasswordAt: e.In(time.Second)}
}

// user stores a user.
func (e *env) user(t *testing.T, name string) account.User {
	t.Helper()
	u := e.newUser(name)
	storetest.Must(t, e.accounts(t).AddUser(e.Ctx, u, "hash of "+name, false))
	n, err := e.accounts(t).CountUsers(e.Ctx)
	storetest.Must(t, err)
	u.Administrator = n == 1
	return u
}

func (e *env) newSession(user, id string) account.Session {
	return account.Session{ID: id, User: user, Agent: "Browser ☂ '\"", CreatedAt: e.Now, SeenAt: e.In(time.Second), ExpiresAt: e.In(time.Hour)}
}

func (e *env) newSecret(user, feed, selector string) account.SealedSecret {
	return account.SealedSecret{Secret: account.Secret{Selector: selector, User: user, Feed: feed, Reader: "reader " + selector, CreatedAt: e.Now, UsedAt: e.In(time.Second)},
		Sealed: []byte("sealed\x00\xff" + selector), MAC: []byte("mac\x00\xff" + selector), Key: "k1"}
}

func wholeUser(t *testing.T, e *env) {
	s := e.accounts(t)
	n, err := s.CountUsers(e.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "users", n, int64(0))
	want := e.user(t, "alice")
	got, hash, err := s.User(e.Ctx, "alice")
	storetest.Must(t, err)
	storetest.Same(t, "user", got, want)
	storetest.Same(t, "hash", hash, "hash of alice")
	storetest.WantFault(t, s.AddUser(e.Ctx, e.newUser("alice"), "other", false), fault.Conflict)
	_, hash, err = s.User(e.Ctx, "alice")
	storetest.Must(t, err)
	storetest.Same(t, "hash after another", hash, "hash of alice")
	n, err = s.CountUsers(e.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "users", n, int64(1))
	storetest.Must(t, s.TouchUser(e.Ctx, "alice", "p", e.In(time.Hour), 3))
	storetest.Must(t, s.TouchUser(e.Ctx, "alice", "q", e.In(time.Minute), 3))
	want.SeenAt = e.In(time.Hour)
	got, _, err = s.User(e.Ctx, "alice")
	storetest.Must(t, err)
	storetest.Same(t, "seen", got, want)
}

func exactNames(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	for _, name := range []string{"", "Alice", "ALICE", "alice ", " alice", "alic", "alice\x00", "ａlice", "аlice", "alice\u200b", "ali%", "ali_e", "\xff"} {
		_, _, err := s.User(e.Ctx, name)
		storetest.WantFault(t, err, fault.NotFound)
		storetest.WantFault(t, second(s.SetUserPassword(e.Ctx, name, "x", e.Now, time.Time{})), fault.NotFound)
		storetest.WantFault(t, s.DisableUser(e.Ctx, name, true, e.Now), fault.NotFound)
		storetest.WantFault(t, s.AddSession(e.Ctx, e.newSession(name, "s"+name), e.In(time.Second), 5), fault.NotFound)
		storetest.WantFault(t, s.AddToken(e.Ctx, account.Token{ID: "t" + name, User: name}, "h"+name, "", 5), fault.NotFound)
		storetest.WantFault(t, s.AddSecret(e.Ctx, e.newSecret(name, "private", "x"), 5), fault.NotFound)
	}
}

func usersByPage(t *testing.T, e *env) {
	s := e.accounts(t)
	var want []string
	for _, name := range []string{"b", "a", "a-b", "a_b", "ab", "a0", "-"} {
		e.user(t, name)
		want = append(want, name)
	}
	slices.Sort(want)
	var got []string
	after := ""
	for {
		page, err := s.Users(e.Ctx, after, 3)
		storetest.Must(t, err)
		if len(page) == 0 {
			break
		}
		for _, u := range page {
			got = append(got, u.Name)
		}
		after = got[len(got)-1]
	}
	storetest.Same(t, "names", got, want)
}

func oneFirstUser(t *testing.T, e *env) {
	s := e.accounts(t)
	const all = 10
	errs := make([]error, all)
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() { errs[i] = s.AddUser(e.Ctx, e.newUser(fmt.Sprint("user", i)), "h", true) })
	}
	group.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
			continue
		}
		storetest.WantFault(t, err, fault.Conflict)
	}
	n, err := s.CountUsers(e.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "made and there", []int64{int64(made), n}, []int64{1, 1})
}

func noFirstUser(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	storetest.WantFault(t, s.AddUser(e.Ctx, e.newUser("bob"), "h", true), fault.Conflict)
	_, _, err := s.User(e.Ctx, "bob")
	storetest.WantFault(t, err, fault.NotFound)
	e.user(t, "bob")
}

func newPassword(t *testing.T, e *env) {
	s := e.accounts(t)
	want := e.user(t, "alice")
	e.user(t, "bob")
	storetest.Must(t, s.AddSession(e.Ctx, e.newSession("alice", "a"), e.In(time.Second), 5))
	storetest.Must(t, s.AddSession(e.Ctx, e.newSession("bob", "b"), e.In(time.Second), 5))
	storetest.WantFault(t, second(s.SetUserPassword(e.Ctx, "alice", "late", e.In(time.Hour), e.Now)), fault.Conflict)
	storetest.Must(t, second(s.Session(e.Ctx, "a")))
	at, err := s.SetUserPassword(e.Ctx, "alice", "new", e.In(time.Minute), want.PasswordAt)
	storetest.Must(t, err)
	storetest.Same(t, "when", at, e.In(time.Minute))
	want.PasswordAt = at
	got, hash, err := s.User(e.Ctx, "alice")
	storetest.Must(t, err)
	storetest.Same(t, "user", got, want)
	storetest.Same(t, "hash", hash, "new")
	_, err = s.Session(e.Ctx, "a")
	storetest.WantFault(t, err, fault.NotFound)
	_, err = s.Session(e.Ctx, "b")
	storetest.Must(t, err)
	storetest.WantFault(t, s.AddSession(e.Ctx, e.newSession("alice", "c"), e.In(time.Second), 5), fault.Conflict)
	storetest.Must(t, s.AddSession(e.Ctx, e.newSession("alice", "d"), at, 5))
	// Each change of the password gets a later time, even if the clock stops or goes backwards.
	for _, clock := range []time.Duration{time.Minute, 0} {
		next, err := s.SetUserPassword(e.Ctx, "alice", "newer", e.In(clock), time.Time{})
		storetest.Must(t, err)
		storetest.Same(t, "when", next, at.Add(time.Millisecond))
		got, _, err := s.User(e.Ctx, "alice")
		storetest.Must(t, err)
		storetest.Same(t, "stored", got.PasswordAt, next)
		at = next
	}
}

func rehash(t *testing.T, e *env) {
	s := e.accounts(t)
	want := e.user(t, "alice")
	storetest.Must(t, s.AddSession(e.Ctx, e.newSession("alice", "a"), e.In(time.Second), 5))
	storetest.Must(t, s.RehashUser(e.Ctx, "alice", "hash of alice", "better"))
	storetest.Must(t, s.RehashUser(e.Ctx, "alice", "hash of alice", "late"))
	got, hash, err := s.User(e.Ctx, "alice")
	storetest.Must(t, err)
	storetest.Same(t, "user", got, want)
	storetest.Same(t, "hash", hash, "better")
	_, err = s.Session(e.Ctx, "a")
	storetest.Must(t, err)
}

func disabledUser(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	storetest.Must(t, s.AddSession(e.Ctx, e.newSession("alice", "a"), e.In(time.Second), 5))
	storetest.Must(t, s.AddToken(e.Ctx, account.Token{ID: "t", User: "alice", Scopes: []string{"read"}}, "h", "app", 5))
	secret := e.newSecret("alice", "private", "s")
	storetest.Must(t, s.AddSecret(e.Ctx, secret, 5))
	storetest.Must(t, s.DisableUser(e.Ctx, "alice", true, e.Now))
	storetest.WantFault(t, s.AddSession(e.Ctx, e.newSession("alice", "b"), e.In(time.Second), 5), fault.NotFound)
	for _, err := range []error{
		second(s.Session(e.Ctx, "a")), second(s.TokenByHash(e.Ctx, "h")), second(s.TokenByApp(e.Ctx, "app")),
		second(s.SecretBySelector(e.Ctx, "s")), second(s.SecretByMAC(e.Ctx, "alice", "private", secret.MAC)),
	} {
		storetest.WantFault(t, err, fault.NotFound)
	}
	list, err := s.SecretsFor(e.Ctx, "alice", "private", "")
	storetest.Must(t, err)
	storetest.Same(t, "secrets that grant access", len(list), 0)
	list, err = s.SecretsOf(e.Ctx, "alice", "private")
	storetest.Must(t, err)
	storetest.Same(t, "secrets listed for the owner", list, []account.SealedSecret{secret})
	storetest.Must(t, s.DisableUser(e.Ctx, "alice", false, e.Now))
	storetest.WantFault(t, second(s.Session(e.Ctx, "a")), fault.NotFound) // an ended session does not exist, rather than being hidden
	storetest.Must(t, second(s.TokenByHash(e.Ctx, "h")))
	storetest.Must(t, second(s.TokenByApp(e.Ctx, "app")))
	storetest.Must(t, second(s.SecretBySelector(e.Ctx, "s")))
}

func second[T any](_ T, err error) error { return err }

func lastPlaces(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	e.user(t, "bob")
	known := func(name string) (places string) {
		for _, p := range []string{"p1", "p2", "p3", "p4"} {
			yes, err := s.KnowsPlace(e.Ctx, name, p)
			storetest.Must(t, err)
			if yes {
				places += p
			}
		}
		return places
	}
	storetest.Same(t, "places before any login", known("alice"), "")
	for i, p := range []string{"p1", "p2", "p3", "p1", "p4"} {
		storetest.Must(t, s.TouchUser(e.Ctx, "alice", p, e.In(time.Duration(i)*time.Minute), 3))
	}
	storetest.Must(t, s.TouchUser(e.Ctx, "bob", "p2", e.Now, 3))
	storetest.Must(t, s.TouchUser(e.Ctx, "nobody", "p2", e.Now, 3))
	storetest.Same(t, "the last three places", known("alice"), "p1p3p4")
	storetest.Same(t, "his", known("bob"), "p2")
	storetest.Same(t, "places of an unknown user", known("nobody"), "")
}

func wholeSession(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	e.user(t, "bob")
	a, b := e.newSession("alice", "a"), e.newSession("alice", "b")
	a.Administrator, b.Administrator = true, true // the first user
	b.CreatedAt = e.In(time.Minute)
	storetest.Must(t, s.AddSession(e.Ctx, a, e.In(time.Second), 5))
	storetest.Must(t, s.AddSession(e.Ctx, b, e.In(time.Second), 5))
	storetest.Must(t, s.AddSession(e.Ctx, e.newSession("bob", "c"), e.In(time.Second), 5))
	got, err := s.Session(e.Ctx, "a")
	storetest.Must(t, err)
	storetest.Same(t, "session", got, a)
	chosen := account.Preferences{Theme: "dark", Oldest: true}
	storetest.Must(t, s.SetPreferences(e.Ctx, "alice", chosen.Encode()))
	got, err = s.Session(e.Ctx, "a")
	storetest.Must(t, err)
	storetest.Same(t, "preferences of the session", got.Preferences, chosen)
	got, err = s.Session(e.Ctx, "c")
	storetest.Must(t, err)
	storetest.Same(t, "preferences of another user", got.Preferences, account.Preferences{})
	storetest.WantFault(t, s.SetPreferences(e.Ctx, "nobody", ""), fault.NotFound)
	storetest.Must(t, s.TouchSession(e.Ctx, "a", e.In(time.Minute), e.In(2*time.Hour)))
	a.SeenAt, a.ExpiresAt = e.In(time.Minute), e.In(2*time.Hour)
	list, err := s.Sessions(e.Ctx, "alice", e.Now)
	storetest.Must(t, err)
	storetest.Same(t, "list", list, []account.Session{b, a})
	list, err = s.Sessions(e.Ctx, "alice", b.ExpiresAt)
	storetest.Must(t, err)
	storetest.Same(t, "unexpired sessions", list, []account.Session{a})
	storetest.Must(t, s.EndSession(e.Ctx, "a"))
	storetest.Must(t, s.EndSession(e.Ctx, "a"))
	for _, id := range []string{"a", "", "A", "b\x00", "\xff"} {
		storetest.WantFault(t, second(s.Session(e.Ctx, id)), fault.NotFound)
	}
}

func oldSessions(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	for i := range 6 {
		n := e.newSession("alice", fmt.Sprint(i))
		n.CreatedAt = e.In(time.Duration(i) * time.Second)
		if i == 5 {
			n.CreatedAt = e.In(-time.Hour) // the clock was set back
		}
		storetest.Must(t, s.AddSession(e.Ctx, n, e.In(time.Second), 3))
	}
	list, err := s.Sessions(e.Ctx, "alice", e.Now)
	storetest.Must(t, err)
	var ids []string
	for _, n := range list {
		ids = append(ids, n.ID)
	}
	storetest.Same(t, "left", ids, []string{"4", "3", "5"})
}

func wholeToken(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	e.user(t, "bob")
	a := account.Token{ID: "a", User: "alice", Label: "the ☂ '\" one", Client: "https://app.example/?☂", Scopes: []string{"create", "read"}, CreatedAt: e.Now}
	b := account.Token{ID: "b", User: "alice", Scopes: []string{"read"}, CreatedAt: e.In(-time.Second), UsedAt: e.Now}
	storetest.Must(t, s.AddToken(e.Ctx, a, "ha", "app a", 5))
	storetest.Must(t, s.AddToken(e.Ctx, b, "hb", "", 5))
	if err := s.AddToken(e.Ctx, account.Token{ID: "c", User: "bob"}, "hb", "", 5); err == nil {
		t.Error("two tokens have the same hash")
	}
	storetest.Must(t, s.TouchToken(e.Ctx, "a", e.In(time.Minute)))
	a.UsedAt = e.In(time.Minute)
	got, err := s.TokenByHash(e.Ctx, "ha")
	storetest.Must(t, err)
	storetest.Same(t, "token", got, a)
	got, err = s.TokenByApp(e.Ctx, "app a")
	storetest.Must(t, err)
	storetest.Same(t, "token of an app", got, a)
	list, err := s.Tokens(e.Ctx, "alice")
	storetest.Must(t, err)
	storetest.Same(t, "list", list, []account.Token{b, a})
	storetest.WantFault(t, s.RemoveToken(e.Ctx, "bob", "a"), fault.NotFound)
	storetest.Must(t, s.RemoveToken(e.Ctx, "alice", "a"))
	storetest.WantFault(t, s.RemoveToken(e.Ctx, "alice", "a"), fault.NotFound)
	for _, hash := range []string{"ha", "HB", "app a", "", "\x00"} {
		storetest.WantFault(t, second(s.TokenByHash(e.Ctx, hash)), fault.NotFound)
		storetest.WantFault(t, second(s.TokenByApp(e.Ctx, hash)), fault.NotFound)
	}
}

func manyTokens(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	e.user(t, "bob")
	add := func(user string, i int) error {
		return s.AddToken(e.Ctx, account.Token{ID: fmt.Sprint(user, i), User: user}, fmt.Sprint("h", user, i), "", 3)
	}
	addMany(t, 3, func(i int) error { return add("alice", i) })
	storetest.Must(t, add("bob", 0))
}

// addMany adds many entries concurrently and expects n of them to be stored.
func addMany(t *testing.T, n int, add func(i int) error) {
	t.Helper()
	errs := make([]error, 2*n+2)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() { errs[i] = add(i) })
	}
	group.Wait()
	added := 0
	for _, err := range errs {
		if err == nil {
			added++
			continue
		}
		storetest.WantFault(t, err, fault.Conflict)
	}
	storetest.Same(t, "added", added, n)
}

func wholeSecret(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	e.user(t, "bob")
	a, b, c := e.newSecret("alice", "private", "a"), e.newSecret("alice", "private", "b"), e.newSecret("bob", "private", "c")
	b.CreatedAt, b.UsedAt, b.Reader, b.Key = e.In(-time.Second), time.Time{}, "Zoë ☂ '\"", "k2"
	for _, one := range []account.SealedSecret{a, b, c} {
		storetest.Must(t, s.AddSecret(e.Ctx, one, 5))
	}
	storetest.Must(t, s.TouchSecret(e.Ctx, "a", e.In(time.Hour)))
	a.UsedAt = e.In(time.Hour)
	got, err := s.SecretBySelector(e.Ctx, "a")
	storetest.Must(t, err)
	storetest.Same(t, "by selector", got, a)
	got, err = s.SecretByMAC(e.Ctx, "alice", "private", b.MAC)
	storetest.Must(t, err)
	storetest.Same(t, "by MAC", got, b)
	list, err := s.SecretsOf(e.Ctx, "alice", "private")
	storetest.Must(t, err)
	storetest.Same(t, "list", list, []account.SealedSecret{b, a})
	for who, want := range map[string][]account.SealedSecret{"": {b, a}, "a": {a}, b.Reader: {b}, strings.ToLower(b.Reader): nil, "c": nil, "\x00": nil} {
		list, err := s.SecretsFor(e.Ctx, "alice", "private", who)
		storetest.Must(t, err)
		storetest.Same(t, "for "+who, list, want)
	}
	keys, err := s.SecretKeys(e.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "keys", keys, map[string]int64{"k1": 2, "k2": 1})
	storetest.WantFault(t, second(s.SecretByMAC(e.Ctx, "bob", "private", a.MAC)), fault.NotFound)
	storetest.WantFault(t, second(s.SecretByMAC(e.Ctx, "alice", "other", a.MAC)), fault.NotFound)
	storetest.WantFault(t, second(s.SecretByMAC(e.Ctx, "alice", "private", nil)), fault.NotFound)
	storetest.WantFault(t, s.RemoveSecret(e.Ctx, "bob", "a"), fault.NotFound)
	storetest.Must(t, s.RemoveSecret(e.Ctx, "alice", "a"))
	storetest.WantFault(t, s.RemoveSecret(e.Ctx, "alice", "a"), fault.NotFound)
	storetest.WantFault(t, second(s.SecretBySelector(e.Ctx, "a")), fault.NotFound)
	storetest.WantFault(t, second(s.SecretBySelector(e.Ctx, "B")), fault.NotFound)
}

func oneSecret(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	e.user(t, "bob")
	a := e.newSecret("alice", "private", "a")
	storetest.Must(t, s.AddSecret(e.Ctx, a, 5))
	again := e.newSecret("alice", "private", "b")
	again.Reader = a.Reader
	storetest.WantFault(t, s.AddSecret(e.Ctx, again, 5), fault.Conflict)
	again.Reader = strings.ToUpper(a.Reader)
	storetest.Must(t, s.AddSecret(e.Ctx, again, 5))
	for i, other := range []account.SealedSecret{e.newSecret("alice", "other", "c"), e.newSecret("bob", "private", "d")} {
		other.Reader = a.Reader
		if err := s.AddSecret(e.Ctx, other, 5); err != nil {
			t.Error(i, err)
		}
	}
}

func manySecrets(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	addMany(t, 3, func(i int) error { return s.AddSecret(e.Ctx, e.newSecret("alice", "private", fmt.Sprint(i)), 3) })
	storetest.Must(t, s.AddSecret(e.Ctx, e.newSecret("alice", "other", "x"), 3))
}

func sweepAccounts(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	for i := range 3 {
		n := e.newSession("alice", fmt.Sprint(i))
		n.ExpiresAt = e.In(time.Duration(i) * time.Minute)
		storetest.Must(t, s.AddSession(e.Ctx, n, e.In(time.Second), 5))
		_, err := s.UseNonce(e.Ctx, [][]byte{{byte(i)}}, n.ExpiresAt)
		storetest.Must(t, err)
		storetest.Must(t, s.TouchUser(e.Ctx, "alice", fmt.Sprint("p", i), n.ExpiresAt, 5))
	}
	var all int64
	for _, want := range []int64{3, 2, 0} {
		n, err := s.SweepAccounts(e.Ctx, e.In(time.Minute), e.Now, 1)
		storetest.Must(t, err)
		storetest.Same(t, "swept", n, want)
		all += n
	}
	storetest.Same(t, "rows removed", all, int64(5))
	list, err := s.Sessions(e.Ctx, "alice", e.Now)
	storetest.Must(t, err)
	storetest.Same(t, "sessions left", len(list), 1)
	for i, want := range []bool{true, true, false} {
		fresh, err := s.UseNonce(e.Ctx, [][]byte{{byte(i)}}, e.In(time.Hour))
		storetest.Must(t, err)
		storetest.Same(t, "fresh nonce after the sweep", fresh, want)
		known, err := s.KnowsPlace(e.Ctx, "alice", fmt.Sprint("p", i))
		storetest.Must(t, err)
		storetest.Same(t, "known place", known, i > 0)
	}
}
