// Package racetest adapts tests to the race detector, which makes code ten times slower, and
// to -short. Start with [Skip] and [Size].
package racetest

import "testing"

// Skip skips, under the race detector, a test that has much data and one goroutine at a time:
// the detector has nothing to find there. The test runs in full without the detector.
func Skip(t testing.TB) {
	t.Helper()
	if detecting {
		t.Skip("much data and one goroutine: it runs without the race detector")
	}
}

// Size is full, or less under the race detector and with -short.
func Size(full, less int) int {
	if detecting || testing.Short() {
		return less
	}
	return full
}
