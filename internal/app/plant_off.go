//go:build !plantedbugs

package app

import "cloudburst/internal/hub"

// planted is the store as it is. In a build for the crash harness it has bugs.
func planted(st hub.Store) hub.Store { return st }
