// Package abusetest attacks the real program over loopback, while a well-behaved visitor
// uses it.
//
// Each test starts the program with its own limits ([ulimit -n] above all), lets a visitor
// ping, receive notifications and open pages, attacks, and measures from outside: the visitor's
// waiting times and rejections; the maximum of memory, descriptors and goroutines, from /proc
// and /metrics; whether acknowledged work is done; and whether the server recovers.
//
// Attackers use many addresses of 127.0.0.0/8; each /24 is a separate source. Runs are short
// unless -abuse.for sets the duration of each attack:
//
//	go test ./lab/abusetest -v -abuse.for 5m -timeout 2h
package abusetest
