//go:build !race

package account_test

// crowd is how many log in at once.
const crowd = 500
