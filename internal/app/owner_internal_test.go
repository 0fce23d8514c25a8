package app

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
)

// awayAccounts is a store of accounts whose database does not answer.
type awayAccounts struct{ account.Store }

func (awayAccounts) Users(context.Context, string, int) ([]account.User, error) {
	return nil, fault.New(fault.Unavailable, "The database is away.")
}

func TestUnavailableDatabaseIsNotTreatedAsHavingNoAccounts(t *testing.T) {
	t.Parallel()
	o := &owners{accounts: &account.Accounts{Store: awayAccounts{}, Now: time.Now}, log: slog.New(slog.DiscardHandler)}
	if o.fresh(t.Context()) {
		t.Error("the river is open while the database is unavailable")
	}
}

func TestForwardedItemsContainTheNameOfTheAccount(t *testing.T) {
	t.Parallel()
	o := &owners{}
	for owner, want := range map[string]string{"": "The operator", "alice": "alice"} {
		o.first.Store(&owner)
		if got := o.senderOf(""); got != want {
			t.Errorf("with the first account %q, its items are forwarded by %q; want %q", owner, got, want)
		}
		if got := o.senderOf("bob"); got != "bob" {
			t.Errorf("bob's items are forwarded by %q", got)
		}
	}
}
