//go:build race

package river_test

// huge is smaller where the race detector makes all that is many times slower.
const huge = 2_000
