package app

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"cloudburst/internal/account"
)

// owners maps users to rivers. A river has the name of its user, but the river of the first
// account is the server's own river, whose name is "".
type owners struct {
	accounts *account.Accounts
	log      *slog.Logger
	first    atomic.Pointer[string] // name of the first account
}

// readers returns the names of all rivers; "" is the server's own river.
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

// readerOf returns the name of a user's river, which is "" for the first account.
func (o *owners) readerOf(user string) string {
	if user != "" && user == o.ownerName() {
		return ""
	}
	return user
}

// ownerOf returns the user name that URLs contain for a river.
func (o *owners) ownerOf(reader string) string {
	if reader != "" {
		return reader
	}
	if name := o.ownerName(); name != "" {
		return name
	}
	return "server"
}

// senderOf returns the display name of the user who forwards items from a river.
func (o *owners) senderOf(reader string) string {
	if reader == "" && o.ownerName() == "" {
		return "The operator"
	}
	return o.ownerOf(reader)
}

// ownerName returns the name of the first account, or "" if no account exists. The first account
// never changes, so its name is read only once.
func (o *owners) ownerName() string {
	name, err := o.firstAccount()
	if err != nil {
		o.log.Warn("cannot find the first account", "err", err)
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

// fresh reports whether no account exists. It returns false if the accounts cannot be read.
func (o *owners) fresh(context.Context) bool {
	name, err := o.firstAccount()
	return err == nil && name == ""
}
