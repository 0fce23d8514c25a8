// Package rivertest tests the contract of river.Store on every store. Start with [Run].
package rivertest

import (
	"testing"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

// env is a store with a clock and helper functions.
type env struct{ *storetest.Case }

func newEnv(t *testing.T, s hub.Store) *env { return &env{storetest.NewCase(t, s)} }

// Run tests the contract of river.Store. open returns an empty store that is closed when the test
// ends.
func Run(t *testing.T, open func(t *testing.T) hub.Store) {
	storetest.RunGroups(t, open, newEnv, map[string]map[string]func(*testing.T, *env){
		"River sources": riverSourceTests(), "River queries": riverPropertyTests(), "River subscriptions": riverSubscriptionTests(),
		"River items": riverItemTests(), "River counts": riverCountTests(), "River searches": riverSearchTests(), "River forwardings": riverForwardingTests(), "River sweep": riverSweepTests(), "River filters": riverFilterTests(), "River full texts": riverFullTextTests(),
	})
}
