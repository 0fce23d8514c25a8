// Package accounttest tests the contract of account.Store on every store. Start with [Run].
package accounttest

import (
	"testing"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

// env is a store with a clock and helper functions.
type env struct{ *storetest.Case }

func newEnv(t *testing.T, s hub.Store) *env { return &env{storetest.NewCase(t, s)} }

// Run tests the contract of account.Store. open returns an empty store that is closed when the test
// ends.
func Run(t *testing.T, open func(t *testing.T) hub.Store) {
	storetest.RunGroups(t, open, newEnv, map[string]map[string]func(*testing.T, *env){
		"Accounts": accountTests(), "Administration": adminTests(), "Tallies": tallyTests(), "Certificates": certificateTests(),
	})
}
