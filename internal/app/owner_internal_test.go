package app

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/config"
	"cloudburst/internal/fault"
)

// awayAccounts are on a database that does not answer.
type awayAccounts struct{ account.Store }

func (awayAccounts) Users(context.Context, string, int) ([]account.User, error) {
	return nil, fault.New(fault.Unavailable, "The database is away.")
}

func TestAServerIsNotFreshBecauseNobodyCanKnow(t *testing.T) {
	t.Parallel()
	a := &App{hosted: hosted{accounts: &account.Accounts{Store: awayAccounts{}, Now: time.Now}}, log: slog.New(slog.DiscardHandler)}
	if a.fresh(t.Context()) {
		t.Error("while the database is away everybody may read the river")
	}
}

func TestRecipientsOfForwardedItemsReadTheNameOfAnAccount(t *testing.T) {
	t.Parallel()
	a := &App{cfg: config.Default()}
	for owner, want := range map[string]string{"": "The operator", "alice": "alice"} {
		a.reading.owner.Store(&owner)
		if got := a.senderOf(""); got != want {
			t.Errorf("with the first account %q, its items are forwarded by %q; want %q", owner, got, want)
		}
		if got := a.senderOf("bob"); got != "bob" {
			t.Errorf("bob's items are forwarded by %q", got)
		}
	}
}
