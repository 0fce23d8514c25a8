package account_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
)

func TestInvitedUserChoosesNameAndPassword(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		secret, i, err := w.Invite(w.ctx, "alice", "for Bob", 0)
		must(t, err)
		if i.ExpiresAt.Sub(i.CreatedAt) != account.InviteLife || strings.Contains(i.ID, secret) {
			t.Errorf("invitation: %+v", i)
		}
		_, err = w.RegisterInvited(w.ctx, secret, "bob", "short", at(home))
		wantFault(t, err, fault.Invalid)
		_, err = w.RegisterInvited(w.ctx, secret, "alice", right, at(home))
		wantFault(t, err, fault.Conflict)
		u, err := w.RegisterInvited(w.ctx, secret, "bob", right, at(home))
		must(t, err)
		if u.Name != "bob" || u.Administrator {
			t.Errorf("invited user: %+v", u)
		}
		w.signIn("bob", right, at(home), ok)
		_, err = w.RegisterInvited(w.ctx, secret, "carol", right, at(home))
		wantFault(t, err, fault.Refused)
	})
}

func TestInvitationExpiresAndCanBeRevoked(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		expired, _, err := w.Invite(w.ctx, "", "", time.Hour)
		must(t, err)
		w.wait(time.Hour)
		revoked, i, err := w.Invite(w.ctx, "", "", time.Hour)
		must(t, err)
		must(t, w.RevokeInvite(w.ctx, i.ID))
		for _, secret := range []string{"", "guess", expired, revoked} {
			_, err := w.Invited(w.ctx, secret)
			wantFault(t, err, fault.Refused)
			_, err = w.RegisterInvited(w.ctx, secret, "bob", right, at(home))
			wantFault(t, err, fault.Refused)
		}
		for _, life := range []time.Duration{time.Second, account.MaxInviteLife + 1} {
			_, _, err := w.Invite(w.ctx, "", "", life)
			wantFault(t, err, fault.Invalid)
		}
		_, _, err = w.Invite(w.ctx, "", strings.Repeat("x", account.MaxNote+1), 0)
		wantFault(t, err, fault.Invalid)
	})
}

func TestInvitationGuessesAreLimited(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		secret, _, err := w.Invite(w.ctx, "", "", 0)
		must(t, err)
		for range 20 {
			_, err := w.RegisterInvited(w.ctx, "guess", "bob", right, at(home))
			wantFault(t, err, fault.Refused)
		}
		_, err = w.RegisterInvited(w.ctx, secret, "bob", right, at(home))
		wantFault(t, err, fault.TooMany)
	})
}

func TestDeletedUserIsRemovedAndTheNameStaysReserved(t *testing.T) {
	t.Parallel()
	withHarness(t, account.Options{}, func(t *testing.T, w *harness) {
		w.add("alice")
		w.wait(time.Second)
		w.add("bob")
		cookie, _, err := w.StartSession(w.ctx, w.user("bob"), "")
		must(t, err)
		hidden := ""
		w.Disabled = func(_ context.Context, name string, disabled bool) { hidden = name }
		must(t, w.Delete(w.ctx, "bob"))
		if hidden != "bob" {
			t.Error("the content of the user is not hidden")
		}
		_, err = w.Session(w.ctx, cookie)
		wantFault(t, err, fault.Refused)
		w.signIn("bob", right, at(home), fault.Refused)
		_, err = w.Add(w.ctx, "bob", right)
		wantFault(t, err, fault.Conflict)
		wantFault(t, w.Delete(w.ctx, "bob"), fault.NotFound)
		wantFault(t, w.Delete(w.ctx, "alice"), fault.Conflict)
	})
}
