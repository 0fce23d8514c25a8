//go:build !linux

package cputime

import "time"

// Of is the time that do takes.
func Of(do func()) time.Duration {
	begin := time.Now()
	do()
	return time.Since(begin)
}

// Process is the time that do takes.
func Process(do func()) time.Duration { return Of(do) }
