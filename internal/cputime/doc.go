// Package cputime measures the CPU time of a part of a test, independent of other processes on the
// machine. Start with [Of] and [Process].
package cputime
