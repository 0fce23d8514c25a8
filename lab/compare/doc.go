// Package compare runs Cloudburst and other programs in turn, with the same work, and prints
// their figures next to each other. It controls every program from outside, through the HTTP API
// of the program. Start with [Options.Run].
package compare
