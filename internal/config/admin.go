package config

// Private reports whether only this machine can connect to the admin listener.
func (a Admin) Private() bool { return loopback(a.Listen) }
