// Package cputime measures CPU time: of a part of a test, independent of other processes on the
// machine, or of another process. Start with [Of], [Process] and [OfProcess].
package cputime
