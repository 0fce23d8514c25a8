// Package signaltest tests every combination of a signal, which reports a changed feed, and a
// kind of subscriber. The table in testdata/signals.md lists the combinations. The tests use the
// real program. The package contains only tests.
package signaltest
