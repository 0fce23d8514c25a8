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
		"OneAuthorHasADomainInUse":        firstHostWins,
		"NewDomainOfAnAuthorIsUnverified": replacedHost,
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
	storetest.Must(t, s.PutAuthorHost(e.Ctx, alice))
	storetest.Must(t, s.PutAuthorHost(e.Ctx, bob))
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
	if err := s.PutAuthorHost(e.Ctx, ownhost.Host{User: "carol", Name: "blog.example", Token: "c", CreatedAt: at}); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a third author stores it: %v", err)
	}
	all, err := s.AuthorHosts(e.Ctx)
	storetest.Must(t, err)
	if len(all) != 2 || all[0] != alice || all[1].InUse() {
		t.Errorf("the domains are %+v", all)
	}
	storetest.Must(t, s.DeleteAuthorHost(e.Ctx, "alice"))
	storetest.Must(t, s.VerifyAuthorHost(e.Ctx, bob))
	if err := s.DeleteAuthorHost(e.Ctx, "alice"); fault.CodeOf(err) != fault.NotFound || err == nil {
		t.Errorf("deleting nothing: %v", err)
	}
}

func replacedHost(t *testing.T, e *env) {
	s := hostsOf(t, e)
	h := ownhost.Host{User: "alice", Name: "one.example", Token: "a", CreatedAt: e.Now}
	storetest.Must(t, s.PutAuthorHost(e.Ctx, h))
	h.VerifiedAt = e.Now
	storetest.Must(t, s.VerifyAuthorHost(e.Ctx, h))
	storetest.Must(t, s.PutAuthorHost(e.Ctx, ownhost.Host{User: "alice", Name: "two.example", Token: "b", CreatedAt: e.Now}))
	all, err := s.AuthorHosts(e.Ctx)
	storetest.Must(t, err)
	if len(all) != 1 || all[0].Name != "two.example" || all[0].InUse() {
		t.Errorf("the domains are %+v", all)
	}
}
