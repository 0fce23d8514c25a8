// Package authortest is the contract of the stores of packages author, audience and announce as
// tests, run on every store. Start with [Run].
package authortest

import (
	"testing"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

// env is a store with a clock and the usual callers.
type env struct{ *storetest.Case }

func newEnv(t *testing.T, s hub.Store) *env { return &env{storetest.NewCase(t, s)} }

// Run runs the contract of those stores. open makes an empty store that is closed with the test.
func Run(t *testing.T, open func(t *testing.T) hub.Store) {
	storetest.RunGroups(t, open, newEnv, map[string]map[string]func(*testing.T, *env){
		"Saved": savedTests(), "Posts": postTests(), "Post lists": postListTests(), "Files": fileTests(), "Sinks": targetTests(),
		"Test feed": testFeedTests(), "Readers": audienceTests(),
	})
}
