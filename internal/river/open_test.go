package river_test

import (
	"testing"

	"cloudburst/internal/river"
)

// opener makes the store of a world.
func opener(t *testing.T) func(t *testing.T) river.Store {
	t.Helper()
	return func(t *testing.T) river.Store { return newMemory() }
}
