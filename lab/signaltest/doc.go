// Package signaltest runs the table of signals and subscribers, docs/signals.md,
// against the real program: every way to say that a feed changed, times every kind
// of subscriber that hears of it. It holds tests only.
package signaltest
