//go:build race

package fulltest

const detecting = true
