package config

// Private reports that nobody but this machine reaches the operator's listener.
func (a Admin) Private() bool { return loopback(a.Listen) }
