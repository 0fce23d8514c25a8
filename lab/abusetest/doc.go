// Package abusetest attacks the real program over loopback, while a well-behaved client, the
// visitor, uses it.
//
// Each test starts the program with its own limits, such as the number of open files. The visitor
// pings, receives notifications and opens pages during the attack. The test measures the
// visitor's response times and rejections. It reads the maximum of memory, descriptors and
// goroutines from /proc and /metrics. At the end, it checks that acknowledged work is done and
// that the server recovers.
//
// Attackers use many addresses of 127.0.0.0/8; each /24 is a separate source. Runs are short
// unless -abuse.for sets the duration of each attack:
//
//	go test ./lab/abusetest -v -abuse.for 5m -timeout 2h
package abusetest
