//go:build !linux

package cputime

import "time"

// Of returns the elapsed time of do.
func Of(do func()) time.Duration {
	begin := time.Now()
	do()
	return time.Since(begin)
}

// Process returns the elapsed time of do.
func Process(do func()) time.Duration { return Of(do) }
