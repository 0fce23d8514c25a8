// Package doctor checks whether subscribers of a feed can be notified of its changes. It checks from
// outside how the server delivers the feed, which hubs the feed names, whether they respond, how
// caches treat the feed, and whether a ping arrives. Start with [Doctor] and [Report].
//
// An examination changes nothing: requests to endpoints of hubs are incomplete on purpose
// (see cloud.go and websub.go). The exceptions are the ping, which the caller can switch
// off, and the watch, which the caller has to request.
package doctor
