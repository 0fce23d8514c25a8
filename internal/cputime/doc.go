// Package cputime measures the CPU time of a piece of a test, on a machine that others use
// too. Start with [Of] and
// [Process].
package cputime
