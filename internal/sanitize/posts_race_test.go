//go:build race

package sanitize

// posts is less under the race detector, which has nothing to look for in them and
// makes them ten times slower.
const posts = 400
