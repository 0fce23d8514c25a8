// Package hubtest is the contract of hub.Store and upstream.Store as tests, run on every store.
// Start with [Run].
package hubtest

import (
	"testing"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

// env is a store with a clock and the usual callers.
type env struct{ *storetest.Case }

func newEnv(t *testing.T, s hub.Store) *env { return &env{storetest.NewCase(t, s)} }

// Run runs the contract of hub.Store and upstream.Store. open makes an empty store that is closed with the test.
func Run(t *testing.T, open func(t *testing.T) hub.Store) {
	storetest.RunGroups(t, open, newEnv, map[string]map[string]func(*testing.T, *env){
		"Topics": topicTests(), "Subscriptions": subscriptionTests(), "Checks": checkTests(), "Parts": shardTests(),
		"Splits": splitTests(), "Results": resultTests(), "Retries": retryTests(), "Sweep": sweepTests(),
		"Events": eventTests(), "History": historyTests(), "Trouble": concurrencyTests(), "Upstream": upstreamTests(),
		"Contents": contentTests(), "Requests": intentTests(), "Changes": changeTests(),
	})
}

// RunEngine runs those of the contract that the engine of deliveries stands on: what is
// claimed, fenced, settled, swept. A store that has nothing else can pass them.
func RunEngine(t *testing.T, open func(t *testing.T) hub.Store) {
	storetest.RunGroups(t, open, newEnv, map[string]map[string]func(*testing.T, *env){
		"Checks": checkTests(), "Parts": shardTests(), "Splits": splitTests(), "Results": resultTests(), "Retries": retryTests(),
		"Sweep": sweepTests(), "Requests": intentTests(),
	})
}
