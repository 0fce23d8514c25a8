// Package audience counts who reads a feed, as honestly as it can be known.
package audience
