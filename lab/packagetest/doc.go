// Package packagetest tests the files under packaging in the way that a container runtime,
// Debian's package manager and Prometheus read them. It contains only tests; start with
// TestProgramRunsInTheContainerImage.
package packagetest
