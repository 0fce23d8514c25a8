// Package hubtest tests the contract of hub.Store and upstream.Store on every store. Start with
// [Run].
package hubtest

import (
	"testing"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

// env is a store with a clock and helper functions.
type env struct{ *storetest.Case }

func newEnv(t *testing.T, s hub.Store) *env { return &env{storetest.NewCase(t, s)} }

// Run tests the contract of hub.Store and upstream.Store. open returns an empty store that is
// closed when the test ends.
func Run(t *testing.T, open func(t *testing.T) hub.Store) {
	storetest.RunGroups(t, open, newEnv, map[string]map[string]func(*testing.T, *env){
		"Topics": topicTests(), "Subscriptions": subscriptionTests(), "Checks": checkTests(), "Shards": shardTests(),
		"Splits": splitTests(), "Results": resultTests(), "Retries": retryTests(), "Sweep": sweepTests(),
		"Events": eventTests(), "History": historyTests(), "Concurrency": concurrencyTests(), "Upstream": upstreamTests(),
		"Contents": contentTests(), "Requests": intentTests(), "Changes": changeTests(),
	})
}

// RunEngine tests the part of the contract that deliveries depend on: claims, epochs, results and
// sweeps. A store with only these methods passes it.
func RunEngine(t *testing.T, open func(t *testing.T) hub.Store) {
	storetest.RunGroups(t, open, newEnv, map[string]map[string]func(*testing.T, *env){
		"Checks": checkTests(), "Shards": shardTests(), "Splits": splitTests(), "Results": resultTests(), "Retries": retryTests(),
		"Sweep": sweepTests(), "Requests": intentTests(),
	})
}
