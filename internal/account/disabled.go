package account

import (
	"context"
	"sync"
	"time"

	"cloudburst/internal/fault"
)

// shutKnown is how long a process believes what it read where others use the same store, and
// mostShut of how many users it remembers it.
const (
	disabledTTL    = 2 * time.Second
	maxCachedUsers = 10_000
)

// shut remembers who is disabled, because every reader of a feed asks.
type disabledCache struct {
	mu     sync.RWMutex
	users  map[string]cachedUser
	writes uint64 // what was read before one is not remembered after it
}

type cachedUser struct {
	disabled bool
	at       time.Time
}

func (s *disabledCache) get(name string) (u cachedUser, writes uint64, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	u, ok = s.users[name]
	return u, s.writes, ok
}

func (s *disabledCache) put(name string, u cachedUser, writes uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if writes != s.writes {
		return
	}
	if s.users == nil || len(s.users) >= maxCachedUsers {
		s.users = map[string]cachedUser{}
	}
	s.users[name] = u
}

func (s *disabledCache) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users = nil
	s.writes++
}

// Shut reports whether a user is disabled, so that nothing of him is shown. It is cheap:
// where no other process uses the store it is read once for each user, elsewhere every two
// seconds. Who does not exist is not.
func (a *Accounts) IsDisabled(ctx context.Context, name string) (bool, error) {
	now := a.now()
	known, writes, ok := a.disabledUsers.get(name)
	if ok && (!a.Shared || now.Sub(known.at) < disabledTTL) {
		return known.disabled, nil
	}
	u, _, err := a.Store.User(ctx, name)
	if err != nil && fault.CodeOf(err) == fault.NotFound {
		return false, nil // not remembered: strangers ask for any name
	}
	if err != nil {
		return false, err
	}
	a.disabledUsers.put(name, cachedUser{u.Disabled, now}, writes)
	return u.Disabled, nil
}
