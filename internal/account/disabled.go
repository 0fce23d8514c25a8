package account

import (
	"context"
	"sync"
	"time"

	"cloudburst/internal/fault"
)

// disabledTTL is the time for which a process trusts a cached state if the store is shared.
// maxCachedUsers is the maximum number of cached users.
const (
	disabledTTL    = 2 * time.Second
	maxCachedUsers = 10_000
)

// disabledCache caches which users are disabled, because every request for a feed needs this state.
type disabledCache struct {
	mu     sync.RWMutex
	users  map[string]cachedUser
	writes uint64 // number of changes; a state that was read before a change must not be cached after it
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

// IsDisabled reports whether a user is disabled or deleted, so that their content is hidden. An
// unknown user is not disabled. The result is cached: without Shared until the user changes, and
// with Shared for two seconds.
func (a *Accounts) IsDisabled(ctx context.Context, name string) (bool, error) {
	now := a.now()
	known, writes, ok := a.disabledUsers.get(name)
	if ok && (!a.Shared || now.Sub(known.at) < disabledTTL) {
		return known.disabled, nil
	}
	u, _, err := a.Store.User(ctx, name)
	if err != nil && fault.CodeOf(err) == fault.NotFound {
		deleted, err := a.Store.IsDeleted(ctx, name)
		if err == nil && deleted { // unknown names are not cached, because clients may request any number of names
			a.disabledUsers.put(name, cachedUser{true, now}, writes)
		}
		return deleted, err
	}
	if err != nil {
		return false, err
	}
	a.disabledUsers.put(name, cachedUser{u.Disabled, now}, writes)
	return u.Disabled, nil
}
