// Package signaltest runs the table of signals and subscribers in docs/reference/signals.md against the
// real program: every kind of ping with every kind of subscriber. It contains only tests.
package signaltest
