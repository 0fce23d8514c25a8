// Package signaltest runs the table of signals and subscribers in testdata/signals.md against the
// real program: every kind of ping with every kind of subscriber. It contains only tests.
package signaltest
