//go:build !race

package river_test

// huge is how many feeds the largest list has.
const huge = 100_000
