// Package abusetest attacks the real program over loopback, while somebody who
// behaves uses it.
//
// Each test starts the program with limits of its own ([ulimit -n] above all), lets
// a visitor ping, be told and look at pages, attacks, and looks from outside: how
// long the visitor waited and whether he was refused; what the process took of
// memory, descriptors and goroutines at most, from /proc and /metrics; whether what
// was acknowledged was done; whether all is well afterwards.
//
// Attackers come from many addresses of 127.0.0.0/8, each /24 of which is a source
// of its own. A run is short unless -abuse.for says how long each attack lasts:
//
//	go test ./lab/abusetest -v -abuse.for 5m -timeout 2h
package abusetest
