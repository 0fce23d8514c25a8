package app

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"cloudburst/internal/account"
)

// owners knows whose river is whose: the first account has the server's own.
type owners struct {
	accounts *account.Accounts
	log      *slog.Logger
	first    atomic.Pointer[string] // the name of the first account
}

// readers are all who may follow feeds here.
func (o *owners) readers(ctx context.Context) ([]string, error) {
	all := []string{""}
	for after := ""; ; {
		page, err := o.accounts.Users(ctx, after, 1000)
		if err != nil {
			return nil, err
		}
		for _, u := range page {
			if after = u.Name; o.readerOf(u.Name) != "" {
				all = append(all, u.Name)
			}
		}
		if len(page) < 1000 {
			return all, nil
		}
	}
}

// readerOf is whose river a user reads: the first account has the server's own.
func (o *owners) readerOf(user string) string {
	if user != "" && user == o.ownerName() {
		return ""
	}
	return user
}

// ownerOf is the name of a reader in addresses.
func (o *owners) ownerOf(reader string) string {
	if reader != "" {
		return reader
	}
	if name := o.ownerName(); name != "" {
		return name
	}
	return "server"
}

// senderOf names a reader for the recipients of forwarded items.
func (o *owners) senderOf(reader string) string {
	if reader == "" && o.ownerName() == "" {
		return "The operator"
	}
	return o.ownerOf(reader)
}

// ownerName is the first account that there was, "" while there is none. There is always
// a first one from then on, so it is looked for once.
func (o *owners) ownerName() string {
	name, err := o.firstAccount()
	if err != nil {
		o.log.Warn("find the first account", "err", err)
	}
	return name
}

func (o *owners) firstAccount() (string, error) {
	if p := o.first.Load(); p != nil {
		return *p, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var first string
	var at time.Time
	for after := ""; ; {
		list, err := o.accounts.Users(ctx, after, 1000)
		if err != nil {
			return "", err
		}
		for _, u := range list {
			if first == "" || u.CreatedAt.Before(at) {
				first, at = u.Name, u.CreatedAt
			}
		}
		if len(list) < 1000 {
			break
		}
		after = list[len(list)-1].Name
	}
	if first != "" {
		o.first.Store(&first)
	}
	return first, nil
}

// fresh reports that nobody has an account yet. While nobody can know, somebody may have.
func (o *owners) fresh(context.Context) bool {
	name, err := o.firstAccount()
	return err == nil && name == ""
}
