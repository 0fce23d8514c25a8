//go:build !linux

package opml_test

import "time"

// clock is the time of day, where a thread has no clock of its own.
func clock() time.Duration { return time.Duration(time.Now().UnixNano()) }
