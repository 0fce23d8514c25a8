package account_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
)

// allowed is the request of a program that alice grants.
var allowed = account.Authorization{
	User: "alice", ClientID: "https://app.example/", ClientName: "The App", RedirectURI: "https://app.example/cb", State: "s", Challenge: "h",
}

// code returns the code of a new grant by alice.
func (w *harness) code(scopes ...string) string {
	w.t.Helper()
	ask, err := w.SealRequest(w.ctx, allowed)
	must(w.t, err)
	z, err := w.OpenRequest("alice", ask)
	must(w.t, err)
	if z.State != "s" || z.Challenge != "h" || z.RedirectURI != allowed.RedirectURI {
		w.t.Errorf("%+v", z)
	}
	z.Scopes = scopes
	code, err := w.Allow(z)
	must(w.t, err)
	return code
}

func fits(account.Authorization) error { return nil }

func TestAuthorizationCodeIsRedeemedOnceOnAnyServerWithTheSameKey(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		code := w.code("profile", "update", "create")
		other := &account.Accounts{Store: w.store, Key: w.Key, Options: w.Options, Shared: true}
		z, err := other.Redeem(w.ctx, code, fits, at(home))
		must(t, err)
		plain, token, err := other.NewClientToken(w.ctx, z)
		must(t, err)
		if token.Label != "The App" || token.Client != allowed.ClientID || !slices.Equal(token.Scopes, []string{"create", "update"}) {
			t.Errorf("%+v", token)
		}
		list, err := w.Tokens(w.ctx, "alice")
		if err != nil || len(list) != 1 || list[0].Client != allowed.ClientID || list[0].Label != "The App" {
			t.Errorf("%+v, %v", list, err)
		}
		_, err = w.Token(w.ctx, plain, "create", at(home))
		must(t, err)
		_, err = w.Redeem(w.ctx, code, fits, at(home))
		wantFault(t, err, fault.Refused)
		_, err = w.Token(w.ctx, plain, "create", at(home))
		wantFault(t, err, fault.Refused) // a repeated code revokes its token
	})
}

func TestTokenOfACodeThatWasRepeatedBeforeIsRefused(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		code := w.code("create")
		z, err := w.Redeem(w.ctx, code, fits, at(home))
		must(t, err)
		_, err = w.Redeem(w.ctx, code, fits, at(away)) // before the first program has its token
		wantFault(t, err, fault.Refused)
		_, _, err = w.NewClientToken(w.ctx, z)
		wantFault(t, err, fault.Refused)
		if list, err := w.Tokens(w.ctx, "alice"); err != nil || len(list) > 0 {
			t.Errorf("tokens after the code was repeated: %+v, %v", list, err)
		}
	})
}

func TestAuthorizationCodeStaysValidAfterUseByAnotherProgram(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		code := w.code("create")
		refusal := errors.New("another program")
		if _, err := w.Redeem(w.ctx, code, func(account.Authorization) error { return refusal }, at(home)); !errors.Is(err, refusal) {
			t.Errorf("%v", err)
		}
		_, err := w.Redeem(w.ctx, code, fits, at(home))
		must(t, err)
	})
}

func TestInvalidAuthorizationCodesAreRefused(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice", "bob")
		refused := func(what, code string) {
			t.Helper()
			if _, err := w.Redeem(w.ctx, code, fits, at(home)); fault.CodeOf(err) != fault.Refused {
				t.Errorf("%s: %v", what, err)
			}
		}
		code := w.code("create")
		ask, err := w.SealRequest(w.ctx, allowed)
		must(t, err)
		refused("an empty code", "")
		refused("a forged code", code[:len(code)-2]+"AA")
		refused("a sealed request", ask)
		_, err = w.OpenRequest("alice", code)
		wantFault(t, err, fault.Refused)
		_, err = w.OpenRequest("bob", ask)
		wantFault(t, err, fault.Refused)
		must(t, w.Disable(w.ctx, "alice", true))
		refused("the code of a disabled user", code)
		must(t, w.Disable(w.ctx, "alice", false))
		time.Sleep(account.CodeTTL)
		refused("an old code", code)
		time.Sleep(account.RequestTTL - account.CodeTTL)
		_, err = w.OpenRequest("alice", ask)
		wantFault(t, err, fault.Refused)
		code = w.code("create")
		_, err = w.ChangePassword(w.ctx, w.user("alice"), "another password")
		must(t, err)
		refused("a code from before a password change", code)
		foreign := &account.Accounts{Store: w.store, Key: []byte("another key, of 32 bytes........"), Options: w.Options}
		if _, err := foreign.Redeem(w.ctx, w.code("create"), fits, at(home)); fault.CodeOf(err) != fault.Refused {
			t.Errorf("a code of another key: %v", err)
		}
		_, err = w.SealRequest(w.ctx, account.Authorization{User: "nobody"})
		wantFault(t, err, fault.NotFound)
	})
}

func TestClientTokenNeedsAScopeAndReceivesALabel(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		z, err := w.Redeem(w.ctx, w.code("profile"), fits, at(home))
		must(t, err)
		_, _, err = w.NewClientToken(w.ctx, z)
		wantFault(t, err, fault.Invalid)
		z.Scopes, z.ClientName = []string{"read"}, "a\nb"
		_, token, err := w.NewClientToken(w.ctx, z)
		if must(t, err); token.Label != allowed.ClientID {
			t.Errorf("%+v", token)
		}
	})
}
