//go:build !linux

package powertest

import "errors"

// mount is for Linux only.
func mount(*Disk, string) (func() error, error) { return nil, errors.New("this system has no FUSE") }
