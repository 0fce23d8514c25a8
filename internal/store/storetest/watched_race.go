//go:build race

package storetest

// underRace: the race detector watches, and makes an embedded database some twenty times slower.
const underRace = true
