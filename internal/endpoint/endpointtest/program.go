// Package endpointtest contains helpers for the tests of several families of endpoints.
package endpointtest

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fulltest"
)

// Run runs a client program and returns its output. The test fails if the program is missing.
func Run(t *testing.T, name string, args ...string) string {
	t.Helper()
	fulltest.Needs(t, "another language")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
