//go:build !race

package upstream_test

// A crowd is so many follows, and their renewals are counted by so many minutes.
const (
	crowdSize    = 100_000
	crowdMinutes = 1
)
