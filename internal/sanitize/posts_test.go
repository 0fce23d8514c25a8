//go:build !race

package sanitize

// posts is how many texts the two readers are compared on.
const posts = 4000
