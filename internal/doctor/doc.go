// Package doctor checks from outside whether a feed is set up so that people who
// follow it can be told of its changes: how it is served, which hubs it names and
// whether those answer, what caches do to it, and whether a ping arrives. Start with
// [Doctor] and [Report].
//
// Nothing is changed anywhere: the doors of hubs are asked with requests that lack
// what they need (see cloud.go and websub.go). Only a ping, which can be switched
// off, and a watch, which can be asked for, are more than looking.
package doctor
