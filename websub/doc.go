// Package websub is WebSub, the W3C recommendation of 23 January 2018.
package websub
