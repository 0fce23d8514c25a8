// Package authortest tests the contracts of the stores of packages author, audience, announce and conversation on
// every store. Start with [Run].
package authortest

import (
	"testing"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

// env is a store with a clock and helper functions.
type env struct{ *storetest.Case }

func newEnv(t *testing.T, s hub.Store) *env { return &env{storetest.NewCase(t, s)} }

// Run tests these contracts. open returns an empty store that is closed when the test ends.
func Run(t *testing.T, open func(t *testing.T) hub.Store) {
	storetest.RunGroups(t, open, newEnv, map[string]map[string]func(*testing.T, *env){
		"Saved": savedTests(), "Posts": postTests(), "Post lists": postListTests(), "Files": fileTests(), "Targets": targetTests(),
		"Test feed": testFeedTests(), "Readers": audienceTests(), "Mentions": mentionTests(), "Sent mentions": mentionSentTests(), "Threads": threadTests(), "People": peopleTests(), "Site": siteTests(), "Domains": hostTests(), "Versions": versionTests(),
	})
}
