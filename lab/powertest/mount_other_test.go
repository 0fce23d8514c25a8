//go:build !linux

package powertest

import "errors"

// mount returns an error, because only Linux is supported.
func mount(*Disk, string) (func() error, error) { return nil, errors.New("this system has no FUSE") }
