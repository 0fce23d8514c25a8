package account

// CheckName says why a name cannot be a new user's: fault.Invalid.
func CheckName(name string) error { return nil }

// Reserved lists the names that are paths of this program, now or soon.
func Reserved() []string { return nil }
