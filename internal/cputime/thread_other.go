//go:build !linux

// Package cputime tells how long a piece of a test was at work, on a machine that others
// use too. Start with [Of].
package cputime

import "time"

// Of is the time that do takes.
func Of(do func()) time.Duration {
	begin := time.Now()
	do()
	return time.Since(begin)
}
