package location

import (
	"slices"

	"cloudburst/internal/href"
)

// OwnHost reports whether own contains a host with its port. An entry without a port matches any port,
// and "*" any host.
func OwnHost(own []string, key string) bool {
	name := key
	if i := lastColon(key); i >= 0 {
		name = key[:i]
	}
	return slices.ContainsFunc(own, func(o string) bool {
		if o == "*" || lastColon(o) < 0 && href.Host("http://"+o) == name {
			return true
		}
		return href.HostPort("http://"+o) == key || href.HostPort("https://"+o) == key
	})
}

// lastColon returns the index of the colon before the port, or -1 if key has no port.
func lastColon(key string) int {
	for i := len(key) - 1; i >= 0 && key[i] != ']'; i-- {
		if key[i] == ':' {
			return i
		}
	}
	return -1
}
