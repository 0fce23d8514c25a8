package authortest

import (
	"testing"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

// FirstPost checks that a store that was created with the first schema accepts a first post.
func FirstPost(t *testing.T, s hub.Store) {
	storetest.Same(t, "the first post", newEnv(t, s).publish(t, "alice", "One").ID, int64(1))
}
