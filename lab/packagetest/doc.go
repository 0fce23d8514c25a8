// Package packagetest looks at what stands under packaging the way those do who use it:
// a runtime of containers, Debian's package manager, Prometheus. It has tests only: see
// TestTheImageHoldsAllThatTheProgramNeeds.
package packagetest
