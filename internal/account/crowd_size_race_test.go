//go:build race

package account_test

// crowd is less under the race detector, which makes each hash many times slower.
const crowd = 100
