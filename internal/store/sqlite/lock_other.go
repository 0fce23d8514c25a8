//go:build !unix

package sqlite

import (
	"os"
	"runtime"

	"cloudburst/internal/fault"
)

// tryLock always fails: without a lock that ends with the process, two processes could write to one
// folder.
func tryLock(*os.File) (free bool, err error) {
	return false, fault.New(fault.Unsupported, "Data folders are not supported on %s; use a PostgreSQL database (--database).", runtime.GOOS)
}

func unlock(*os.File) error { return nil }

// KeepOwner does nothing: data folders are not supported.
func KeepOwner(*os.File) {}

func foreignFile(int, string, ...string) string { return "" }
