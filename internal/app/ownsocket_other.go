//go:build !linux

package app

func (s ownSocket) ignoreNew() {}

// pending returns false, because only Linux has both functions.
func (s ownSocket) pending() bool { return false }
