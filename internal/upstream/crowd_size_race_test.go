//go:build race

package upstream_test

// Under the race detector a crowd is less, or it would take minutes.
const (
	crowdSize    = 5_000
	crowdMinutes = 20
)
