// Package cputime measures the CPU time of another process or of a part of a test. Other processes
// on the machine do not affect the result. Start with [Of], [Process] and [OfProcess].
package cputime
