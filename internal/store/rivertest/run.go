// Package rivertest is the contract of river.Store as tests, run on every store. Start with [Run].
package rivertest

import (
	"testing"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

// env is a store with a clock and the usual callers.
type env struct{ *storetest.Case }

func newEnv(t *testing.T, s hub.Store) *env { return &env{storetest.NewCase(t, s)} }

// Run runs the contract of river.Store. open makes an empty store that is closed with the test.
func Run(t *testing.T, open func(t *testing.T) hub.Store) {
	storetest.RunGroups(t, open, newEnv, map[string]map[string]func(*testing.T, *env){
		"River sources": riverSourceTests(), "River queries": riverPropertyTests(), "River subscriptions": riverSubscriptionTests(),
		"River items": riverItemTests(), "River searches": riverSearchTests(), "River notices": riverForwardingTests(), "River sweep": riverSweepTests(),
	})
}
