//go:build !race

package fulltest

const detecting = false
