// Package compare runs Cloudburst and other programs in turn, with the same work, and prints their
// figures next to each other. It controls every program from outside, by its HTTP API. Start with
// [Options.Run].
package compare
