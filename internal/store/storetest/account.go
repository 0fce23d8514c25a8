package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
)

func accountTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"AUserComesBackWhole":                            wholeUser,
		"NamesAreComparedByteByByte":                     exactNames,
		"UsersAreListedByName":                           usersByPage,
		"OneOfManyFirstUsersIsMade":                      oneFirstUser,
		"ThereIsNoFirstUserAfterAnother":                 noFirstUser,
		"ANewPasswordEndsSessions":                       newPassword,
		"OnlyTheSamePasswordIsHashedAnew":                hashedAnew,
		"ADisabledUserHasNothing":                        disabledUser,
		"TheLastPlacesAreKnown":                          lastPlaces,
		"ASessionComesBackWholeUntilItIsEnded":           wholeSession,
		"TheOldestSessionsMakeRoom":                      oldSessions,
		"ATokenComesBackWholeUntilItIsRemoved":           wholeToken,
		"AUserHasSoManyTokens":                           manyTokens,
		"ASecretComesBackWholeUntilItIsRemoved":          wholeSecret,
		"AReaderHasOneSecretForAFeed":                    oneSecret,
		"AFeedHasSoManySecrets":                          manySecrets,
		"OfManyWithTheSameNonceOneIsFirst":               oneNonce,
		"ANonceThatIsThereIsNotFreshWhateverComesWithIt": pairsOfNonces,
		"WhatIsOverIsSwept":                              sweepAccounts,
	}
}

// accounts is the store's part for people.
func (e *env) accounts(t *testing.T) account.Store {
	t.Helper()
	s, ok := e.Store.(account.Store)
	if !ok {
		t.Fatalf("%T is no account.Store", e.Store)
	}
	return s
}

func (e *env) aUser(name string) account.User {
	return account.User{Name: name, CreatedAt: e.now, PasswordAt: e.in(time.Second)}
}

// user stores one.
func (e *env) user(t *testing.T, name string) account.User {
	t.Helper()
	u := e.aUser(name)
	must(t, e.accounts(t).AddUser(e.ctx, u, "hash of "+name, false))
	return u
}

func (e *env) aSession(user, id string) account.Session {
	return account.Session{ID: id, User: user, Agent: "Browser ☂ '\"", CreatedAt: e.now, SeenAt: e.in(time.Second), ExpiresAt: e.in(time.Hour)}
}

func (e *env) aSecret(user, feed, selector string) account.SealedSecret {
	return account.SealedSecret{Secret: account.Secret{Selector: selector, User: user, Feed: feed, Reader: "reader " + selector, CreatedAt: e.now, UsedAt: e.in(time.Second)},
		Sealed: []byte("sealed\x00\xff" + selector), MAC: []byte("mac\x00\xff" + selector), Key: "k1"}
}

func wholeUser(t *testing.T, e *env) {
	s := e.accounts(t)
	n, err := s.CountUsers(e.ctx)
	must(t, err)
	same(t, "users", n, int64(0))
	want := e.user(t, "alice")
	got, hash, err := s.User(e.ctx, "alice")
	must(t, err)
	same(t, "user", got, want)
	same(t, "hash", hash, "hash of alice")
	faulty(t, s.AddUser(e.ctx, e.aUser("alice"), "other", false), fault.Conflict)
	_, hash, err = s.User(e.ctx, "alice")
	must(t, err)
	same(t, "hash after another", hash, "hash of alice")
	n, err = s.CountUsers(e.ctx)
	must(t, err)
	same(t, "users", n, int64(1))
	must(t, s.SeeUser(e.ctx, "alice", "p", e.in(time.Hour), 3))
	must(t, s.SeeUser(e.ctx, "alice", "q", e.in(time.Minute), 3))
	want.SeenAt = e.in(time.Hour)
	got, _, err = s.User(e.ctx, "alice")
	must(t, err)
	same(t, "seen", got, want)
}

func exactNames(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	for _, name := range []string{"", "Alice", "ALICE", "alice ", " alice", "alic", "alice\x00", "ａlice", "аlice", "alice\u200b", "ali%", "ali_e", "\xff"} {
		_, _, err := s.User(e.ctx, name)
		faulty(t, err, fault.NotFound)
		faulty(t, second(s.SetUserPassword(e.ctx, name, "x", e.now, time.Time{})), fault.NotFound)
		faulty(t, s.DisableUser(e.ctx, name, true, e.now), fault.NotFound)
		faulty(t, s.AddSession(e.ctx, e.aSession(name, "s"+name), e.in(time.Second), 5), fault.NotFound)
		faulty(t, s.AddToken(e.ctx, account.Token{ID: "t" + name, User: name}, "h"+name, "", 5), fault.NotFound)
		faulty(t, s.AddSecret(e.ctx, e.aSecret(name, "private", "x"), 5), fault.NotFound)
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
		page, err := s.Users(e.ctx, after, 3)
		must(t, err)
		if len(page) == 0 {
			break
		}
		for _, u := range page {
			got = append(got, u.Name)
		}
		after = got[len(got)-1]
	}
	same(t, "names", got, want)
}

func oneFirstUser(t *testing.T, e *env) {
	s := e.accounts(t)
	const all = 10
	errs := make([]error, all)
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() { errs[i] = s.AddUser(e.ctx, e.aUser(fmt.Sprint("user", i)), "h", true) })
	}
	group.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
			continue
		}
		faulty(t, err, fault.Conflict)
	}
	n, err := s.CountUsers(e.ctx)
	must(t, err)
	same(t, "made and there", []int64{int64(made), n}, []int64{1, 1})
}

func noFirstUser(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	faulty(t, s.AddUser(e.ctx, e.aUser("bob"), "h", true), fault.Conflict)
	_, _, err := s.User(e.ctx, "bob")
	faulty(t, err, fault.NotFound)
	e.user(t, "bob")
}

func newPassword(t *testing.T, e *env) {
	s := e.accounts(t)
	want := e.user(t, "alice")
	e.user(t, "bob")
	must(t, s.AddSession(e.ctx, e.aSession("alice", "a"), e.in(time.Second), 5))
	must(t, s.AddSession(e.ctx, e.aSession("bob", "b"), e.in(time.Second), 5))
	faulty(t, second(s.SetUserPassword(e.ctx, "alice", "late", e.in(time.Hour), e.now)), fault.Conflict)
	must(t, second(s.Session(e.ctx, "a")))
	at, err := s.SetUserPassword(e.ctx, "alice", "new", e.in(time.Minute), want.PasswordAt)
	must(t, err)
	same(t, "when", at, e.in(time.Minute))
	want.PasswordAt = at
	got, hash, err := s.User(e.ctx, "alice")
	must(t, err)
	same(t, "user", got, want)
	same(t, "hash", hash, "new")
	_, err = s.Session(e.ctx, "a")
	faulty(t, err, fault.NotFound)
	_, err = s.Session(e.ctx, "b")
	must(t, err)
	faulty(t, s.AddSession(e.ctx, e.aSession("alice", "c"), e.in(time.Second), 5), fault.Conflict)
	must(t, s.AddSession(e.ctx, e.aSession("alice", "d"), at, 5))
	// Also when the clock stands still, or goes back, the times differ.
	for _, clock := range []time.Duration{time.Minute, 0} {
		next, err := s.SetUserPassword(e.ctx, "alice", "newer", e.in(clock), time.Time{})
		must(t, err)
		same(t, "when", next, at.Add(time.Millisecond))
		got, _, err := s.User(e.ctx, "alice")
		must(t, err)
		same(t, "stored", got.PasswordAt, next)
		at = next
	}
}

func hashedAnew(t *testing.T, e *env) {
	s := e.accounts(t)
	want := e.user(t, "alice")
	must(t, s.AddSession(e.ctx, e.aSession("alice", "a"), e.in(time.Second), 5))
	must(t, s.RehashUser(e.ctx, "alice", "hash of alice", "better"))
	must(t, s.RehashUser(e.ctx, "alice", "hash of alice", "late"))
	got, hash, err := s.User(e.ctx, "alice")
	must(t, err)
	same(t, "user", got, want)
	same(t, "hash", hash, "better")
	_, err = s.Session(e.ctx, "a")
	must(t, err)
}

func disabledUser(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	must(t, s.AddSession(e.ctx, e.aSession("alice", "a"), e.in(time.Second), 5))
	must(t, s.AddToken(e.ctx, account.Token{ID: "t", User: "alice", Scopes: []string{"read"}}, "h", "app", 5))
	secret := e.aSecret("alice", "private", "s")
	must(t, s.AddSecret(e.ctx, secret, 5))
	must(t, s.DisableUser(e.ctx, "alice", true, e.now))
	faulty(t, s.AddSession(e.ctx, e.aSession("alice", "b"), e.in(time.Second), 5), fault.NotFound)
	for _, err := range []error{
		second(s.Session(e.ctx, "a")), second(s.TokenByHash(e.ctx, "h")), second(s.TokenByApp(e.ctx, "app")),
		second(s.SecretBySelector(e.ctx, "s")), second(s.SecretByMAC(e.ctx, "alice", "private", secret.MAC)),
	} {
		faulty(t, err, fault.NotFound)
	}
	list, err := s.SecretsFor(e.ctx, "alice", "private", "")
	must(t, err)
	same(t, "for letting in", len(list), 0)
	list, err = s.SecretsOf(e.ctx, "alice", "private")
	must(t, err)
	same(t, "for the owner", list, []account.SealedSecret{secret})
	must(t, s.DisableUser(e.ctx, "alice", false, e.now))
	faulty(t, second(s.Session(e.ctx, "a")), fault.NotFound) // ended, not hidden
	must(t, second(s.TokenByHash(e.ctx, "h")))
	must(t, second(s.TokenByApp(e.ctx, "app")))
	must(t, second(s.SecretBySelector(e.ctx, "s")))
}

func second[T any](_ T, err error) error { return err }

func lastPlaces(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	e.user(t, "bob")
	known := func(name string) (places string) {
		for _, p := range []string{"p1", "p2", "p3", "p4"} {
			yes, err := s.KnowsPlace(e.ctx, name, p)
			must(t, err)
			if yes {
				places += p
			}
		}
		return places
	}
	same(t, "at first", known("alice"), "")
	for i, p := range []string{"p1", "p2", "p3", "p1", "p4"} {
		must(t, s.SeeUser(e.ctx, "alice", p, e.in(time.Duration(i)*time.Minute), 3))
	}
	must(t, s.SeeUser(e.ctx, "bob", "p2", e.now, 3))
	must(t, s.SeeUser(e.ctx, "nobody", "p2", e.now, 3))
	same(t, "the last three of hers", known("alice"), "p1p3p4")
	same(t, "his", known("bob"), "p2")
	same(t, "nobody's", known("nobody"), "")
}

func wholeSession(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	e.user(t, "bob")
	a, b := e.aSession("alice", "a"), e.aSession("alice", "b")
	b.CreatedAt = e.in(time.Minute)
	must(t, s.AddSession(e.ctx, a, e.in(time.Second), 5))
	must(t, s.AddSession(e.ctx, b, e.in(time.Second), 5))
	must(t, s.AddSession(e.ctx, e.aSession("bob", "c"), e.in(time.Second), 5))
	got, err := s.Session(e.ctx, "a")
	must(t, err)
	same(t, "session", got, a)
	must(t, s.SeeSession(e.ctx, "a", e.in(time.Minute), e.in(2*time.Hour)))
	a.SeenAt, a.ExpiresAt = e.in(time.Minute), e.in(2*time.Hour)
	list, err := s.Sessions(e.ctx, "alice", e.now)
	must(t, err)
	same(t, "list", list, []account.Session{b, a})
	list, err = s.Sessions(e.ctx, "alice", b.ExpiresAt)
	must(t, err)
	same(t, "those that are not over", list, []account.Session{a})
	must(t, s.EndSession(e.ctx, "a"))
	must(t, s.EndSession(e.ctx, "a"))
	for _, id := range []string{"a", "", "A", "b\x00", "\xff"} {
		faulty(t, second(s.Session(e.ctx, id)), fault.NotFound)
	}
}

func oldSessions(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	for i := range 6 {
		n := e.aSession("alice", fmt.Sprint(i))
		n.CreatedAt = e.in(time.Duration(i) * time.Second)
		if i == 5 {
			n.CreatedAt = e.in(-time.Hour) // the clock was set back
		}
		must(t, s.AddSession(e.ctx, n, e.in(time.Second), 3))
	}
	list, err := s.Sessions(e.ctx, "alice", e.now)
	must(t, err)
	var ids []string
	for _, n := range list {
		ids = append(ids, n.ID)
	}
	same(t, "left", ids, []string{"4", "3", "5"})
}

func wholeToken(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	e.user(t, "bob")
	a := account.Token{ID: "a", User: "alice", Label: "the ☂ '\" one", Client: "https://app.example/?☂", Scopes: []string{"create", "read"}, CreatedAt: e.now}
	b := account.Token{ID: "b", User: "alice", Scopes: []string{"read"}, CreatedAt: e.in(-time.Second), UsedAt: e.now}
	must(t, s.AddToken(e.ctx, a, "ha", "app a", 5))
	must(t, s.AddToken(e.ctx, b, "hb", "", 5))
	if err := s.AddToken(e.ctx, account.Token{ID: "c", User: "bob"}, "hb", "", 5); err == nil {
		t.Error("two tokens have one hash")
	}
	must(t, s.SeeToken(e.ctx, "a", e.in(time.Minute)))
	a.UsedAt = e.in(time.Minute)
	got, err := s.TokenByHash(e.ctx, "ha")
	must(t, err)
	same(t, "token", got, a)
	got, err = s.TokenByApp(e.ctx, "app a")
	must(t, err)
	same(t, "token of an app", got, a)
	list, err := s.Tokens(e.ctx, "alice")
	must(t, err)
	same(t, "list", list, []account.Token{b, a})
	faulty(t, s.RemoveToken(e.ctx, "bob", "a"), fault.NotFound)
	must(t, s.RemoveToken(e.ctx, "alice", "a"))
	faulty(t, s.RemoveToken(e.ctx, "alice", "a"), fault.NotFound)
	for _, hash := range []string{"ha", "HB", "app a", "", "\x00"} {
		faulty(t, second(s.TokenByHash(e.ctx, hash)), fault.NotFound)
		faulty(t, second(s.TokenByApp(e.ctx, hash)), fault.NotFound)
	}
}

func manyTokens(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	e.user(t, "bob")
	add := func(user string, i int) error {
		return s.AddToken(e.ctx, account.Token{ID: fmt.Sprint(user, i), User: user}, fmt.Sprint("h", user, i), "", 3)
	}
	most(t, 3, func(i int) error { return add("alice", i) })
	must(t, add("bob", 0))
}

// most adds many at the same time and expects n to be there.
func most(t *testing.T, n int, add func(i int) error) {
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
		faulty(t, err, fault.Conflict)
	}
	same(t, "added", added, n)
}

func wholeSecret(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	e.user(t, "bob")
	a, b, c := e.aSecret("alice", "private", "a"), e.aSecret("alice", "private", "b"), e.aSecret("bob", "private", "c")
	b.CreatedAt, b.UsedAt, b.Reader, b.Key = e.in(-time.Second), time.Time{}, "Zoë ☂ '\"", "k2"
	for _, one := range []account.SealedSecret{a, b, c} {
		must(t, s.AddSecret(e.ctx, one, 5))
	}
	must(t, s.SeeSecret(e.ctx, "a", e.in(time.Hour)))
	a.UsedAt = e.in(time.Hour)
	got, err := s.SecretBySelector(e.ctx, "a")
	must(t, err)
	same(t, "by selector", got, a)
	got, err = s.SecretByMAC(e.ctx, "alice", "private", b.MAC)
	must(t, err)
	same(t, "by MAC", got, b)
	list, err := s.SecretsOf(e.ctx, "alice", "private")
	must(t, err)
	same(t, "list", list, []account.SealedSecret{b, a})
	for who, want := range map[string][]account.SealedSecret{"": {b, a}, "a": {a}, b.Reader: {b}, strings.ToLower(b.Reader): nil, "c": nil, "\x00": nil} {
		list, err := s.SecretsFor(e.ctx, "alice", "private", who)
		must(t, err)
		same(t, "for "+who, list, want)
	}
	keys, err := s.SecretKeys(e.ctx)
	must(t, err)
	same(t, "keys", keys, map[string]int64{"k1": 2, "k2": 1})
	faulty(t, second(s.SecretByMAC(e.ctx, "bob", "private", a.MAC)), fault.NotFound)
	faulty(t, second(s.SecretByMAC(e.ctx, "alice", "other", a.MAC)), fault.NotFound)
	faulty(t, second(s.SecretByMAC(e.ctx, "alice", "private", nil)), fault.NotFound)
	faulty(t, s.RemoveSecret(e.ctx, "bob", "a"), fault.NotFound)
	must(t, s.RemoveSecret(e.ctx, "alice", "a"))
	faulty(t, s.RemoveSecret(e.ctx, "alice", "a"), fault.NotFound)
	faulty(t, second(s.SecretBySelector(e.ctx, "a")), fault.NotFound)
	faulty(t, second(s.SecretBySelector(e.ctx, "B")), fault.NotFound)
}

func oneSecret(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	e.user(t, "bob")
	a := e.aSecret("alice", "private", "a")
	must(t, s.AddSecret(e.ctx, a, 5))
	again := e.aSecret("alice", "private", "b")
	again.Reader = a.Reader
	faulty(t, s.AddSecret(e.ctx, again, 5), fault.Conflict)
	again.Reader = strings.ToUpper(a.Reader)
	must(t, s.AddSecret(e.ctx, again, 5))
	for i, other := range []account.SealedSecret{e.aSecret("alice", "other", "c"), e.aSecret("bob", "private", "d")} {
		other.Reader = a.Reader
		if err := s.AddSecret(e.ctx, other, 5); err != nil {
			t.Error(i, err)
		}
	}
}

func manySecrets(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	most(t, 3, func(i int) error { return s.AddSecret(e.ctx, e.aSecret("alice", "private", fmt.Sprint(i)), 3) })
	must(t, s.AddSecret(e.ctx, e.aSecret("alice", "other", "x"), 3))
}

func sweepAccounts(t *testing.T, e *env) {
	s := e.accounts(t)
	e.user(t, "alice")
	for i := range 3 {
		n := e.aSession("alice", fmt.Sprint(i))
		n.ExpiresAt = e.in(time.Duration(i) * time.Minute)
		must(t, s.AddSession(e.ctx, n, e.in(time.Second), 5))
		_, err := s.UseNonce(e.ctx, [][]byte{{byte(i)}}, n.ExpiresAt)
		must(t, err)
		must(t, s.SeeUser(e.ctx, "alice", fmt.Sprint("p", i), n.ExpiresAt, 5))
	}
	var all int64
	for _, want := range []int64{3, 2, 0} {
		n, err := s.SweepAccounts(e.ctx, e.in(time.Minute), e.now, 1)
		must(t, err)
		same(t, "swept", n, want)
		all += n
	}
	same(t, "in all", all, int64(5))
	list, err := s.Sessions(e.ctx, "alice", e.now)
	must(t, err)
	same(t, "sessions left", len(list), 1)
	for i, want := range []bool{true, true, false} {
		fresh, err := s.UseNonce(e.ctx, [][]byte{{byte(i)}}, e.in(time.Hour))
		must(t, err)
		same(t, "fresh again", fresh, want)
		known, err := s.KnowsPlace(e.ctx, "alice", fmt.Sprint("p", i))
		must(t, err)
		same(t, "known place", known, i > 0)
	}
}
