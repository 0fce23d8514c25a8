//go:build race

package racetest

const detecting = true
