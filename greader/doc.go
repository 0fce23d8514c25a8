// Package greader is the programming interface of Google Reader, which went away in
// 2013 and lives on in many programs that read feeds.
package greader
