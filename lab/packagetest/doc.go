// Package packagetest tests the files under packaging as their users read them: a container
// runtime, Debian's package manager and Prometheus. It contains only tests; start with
// TestProgramRunsInTheContainerImage.
package packagetest
