package authortest

import (
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/ownhost"
	"cloudburst/internal/store/storetest"
)

func hostTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"OneAuthorHasADomainInUse":            firstHostWins,
		"NewDomainOfAnAuthorIsUnverified":     replacedHost,
		"RemovedDomainIsListedAsFormerDomain": pastHost,
	}
}

func hostsOf(t *testing.T, e *env) ownhost.Store {
	t.Helper()
	s, ok := e.Store.(ownhost.Store)
	if !ok {
		t.Fatal("the store is not an ownhost.Store")
	}
	return s
}

func firstHostWins(t *testing.T, e *env) {
	s := hostsOf(t, e)
	at := e.Now.Truncate(time.Millisecond)
	alice := ownhost.Host{User: "alice", Name: "blog.example", Token: "a", CreatedAt: at}
	bob := ownhost.Host{User: "bob", Name: "blog.example", Token: "b", CreatedAt: at}
	storetest.Must(t, s.PutAuthorHost(e.Ctx, alice, e.In(time.Hour)))
	storetest.Must(t, s.PutAuthorHost(e.Ctx, bob, e.In(time.Hour)))
	alice.VerifiedAt, bob.VerifiedAt = at, at
	other := alice
	other.Token = "x"
	if err := s.VerifyAuthorHost(e.Ctx, other); fault.CodeOf(err) != fault.NotFound || err == nil {
		t.Errorf("another token: %v", err)
	}
	storetest.Must(t, s.VerifyAuthorHost(e.Ctx, alice))
	if err := s.VerifyAuthorHost(e.Ctx, bob); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a second author: %v", err)
	}
	if err := s.PutAuthorHost(e.Ctx, ownhost.Host{User: "carol", Name: "blog.example", Token: "c", CreatedAt: at}, e.In(time.Hour)); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a third author stores it: %v", err)
	}
	all, err := s.AuthorHosts(e.Ctx)
	storetest.Must(t, err)
	if len(all) != 2 || all[0] != alice || all[1].InUse() {
		t.Errorf("domains: %+v, want %+v and one not in use", all, alice)
	}
	storetest.Must(t, s.DeleteAuthorHost(e.Ctx, "alice", e.In(time.Hour)))
	storetest.Must(t, s.VerifyAuthorHost(e.Ctx, bob))
	if err := s.DeleteAuthorHost(e.Ctx, "alice", e.In(time.Hour)); fault.CodeOf(err) != fault.NotFound || err == nil {
		t.Errorf("deleting nothing: %v", err)
	}
}

func replacedHost(t *testing.T, e *env) {
	s := hostsOf(t, e)
	h := ownhost.Host{User: "alice", Name: "one.example", Token: "a", CreatedAt: e.Now}
	storetest.Must(t, s.PutAuthorHost(e.Ctx, h, e.In(time.Hour)))
	h.VerifiedAt = e.Now
	storetest.Must(t, s.VerifyAuthorHost(e.Ctx, h))
	storetest.Must(t, s.PutAuthorHost(e.Ctx, ownhost.Host{User: "alice", Name: "two.example", Token: "b", CreatedAt: e.Now}, e.In(time.Hour)))
	all, err := s.AuthorHosts(e.Ctx)
	storetest.Must(t, err)
	if len(all) != 1 || all[0].Name != "two.example" || all[0].InUse() {
		t.Errorf("domains: %+v, want only two.example, not in use", all)
	}
}

func pastHost(t *testing.T, e *env) {
	s := hostsOf(t, e)
	put := func(user, name string) ownhost.Host {
		h := ownhost.Host{User: user, Name: name, Token: "t" + user, CreatedAt: e.Now, VerifiedAt: e.Now}
		storetest.Must(t, s.PutAuthorHost(e.Ctx, h, e.In(2*time.Hour)))
		return h
	}
	past := func(what string, want ...ownhost.Past) {
		t.Helper()
		all, err := s.PastAuthorHosts(e.Ctx)
		storetest.Must(t, err)
		storetest.Same(t, what, all, want)
	}
	put("alice", "never.example")
	storetest.Must(t, s.DeleteAuthorHost(e.Ctx, "alice", e.In(time.Hour)))
	past("past names without one in use")
	storetest.Must(t, s.VerifyAuthorHost(e.Ctx, put("alice", "one.example")))
	put("alice", "one.example")
	past("past names after the same name was stored again")
	storetest.Must(t, s.VerifyAuthorHost(e.Ctx, put("alice", "one.example")))
	storetest.Must(t, s.VerifyAuthorHost(e.Ctx, put("alice", "two.example")))
	one := ownhost.Past{Name: "one.example", User: "alice", Until: e.In(2 * time.Hour).Truncate(time.Millisecond)}
	past("past names after another name", one)
	storetest.Must(t, s.DeleteAuthorHost(e.Ctx, "alice", e.In(time.Hour)))
	two := ownhost.Past{Name: "two.example", User: "alice", Until: e.In(time.Hour).Truncate(time.Millisecond)}
	past("past names after the removal", one, two)
	storetest.Must(t, s.TidyAuthorHosts(e.Ctx, e.In(90*time.Minute)))
	past("past names that have not ended", one)
	bob := put("bob", "one.example")
	past("past names while another author only wants one", one)
	storetest.Must(t, s.VerifyAuthorHost(e.Ctx, bob))
	past("past names after another author has it in use")
	storetest.Must(t, s.DeleteAuthorHost(e.Ctx, "bob", e.In(time.Hour)))
	put("bob", "three.example")
	storetest.Must(t, s.ForgetAuthorHosts(e.Ctx, "bob"))
	past("past names of a forgotten user")
	all, err := s.AuthorHosts(e.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "names", len(all), 0)
}
