// Package fulltest reduces or skips tests with -short and under the race detector, which makes code
// ten times slower. Start with [Long] and [Size].
package fulltest

import (
	"os/exec"
	"testing"
)

// Long skips, with -short, a test that uses more than half a second of CPU time or waits for
// seconds.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long; run without -short")
	}
}

// Needs skips, with -short, a test that requires more than Go, such as PostgreSQL or a browser.
func Needs(t testing.TB, what string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("needs %s; run without -short", what)
	}
}

// Chromium returns the path of Chromium's program without windows, which needs half of the CPU time,
// or else of Chromium. It fails the test if neither is installed, and skips it with -short.
func Chromium(t testing.TB) string {
	t.Helper()
	Needs(t, "a browser")
	for _, name := range []string{"chromium-headless-shell", "chromium"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("this test needs Chromium; packaging/setup-tests.sh installs it (Debian package chromium-headless-shell)")
	return ""
}

// SkipUnderRace skips a test under the race detector. It is for tests with much data and a single
// goroutine, in which the detector can find no race. The test runs in full without the detector.
func SkipUnderRace(t testing.TB) {
	t.Helper()
	if detecting {
		t.Skip("much data and one goroutine: it runs without the race detector")
	}
}

// Size returns less under the race detector or with -short, and full otherwise.
func Size(full, less int) int {
	if detecting || testing.Short() {
		return less
	}
	return full
}
