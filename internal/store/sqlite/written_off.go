//go:build !plantedbugs

package sqlite

// noteWrites is for builds with planted bugs.
func noteWrites() {}
