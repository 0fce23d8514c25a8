//go:build !plantedbugs

package sqldb

// Boundary is the moment before a transaction is committed, or the one after. In a build
// for the crash harness the process may end there, or the outcome be lost.
func Boundary(committed bool) error { return nil }
