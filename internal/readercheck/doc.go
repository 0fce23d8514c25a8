// Package readercheck scores programs that read feeds by 30 polite fetching rules. It serves probe
// feeds, each of which tests one or two rules, and records every request. It reports which rules a
// reader kept, which it broke, and which need more observations.
//
// Start with [Server]: its front page shows the score, /probes.opml is the subscription list for
// the reader, and /report.json is the score as JSON. Readers are distinguished by address and by
// the first word of their User-Agent.
//
// Some rules cannot be observed from outside, such as what a reader stores and how it reacts to
// buttons. The report lists them without a verdict.
package readercheck

// Rule is one polite fetching rule.
type Rule struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	Unseen bool   `json:"unseen,omitempty"` // the rule cannot be observed from outside
}

// Rules returns all rules by number.
func Rules() []Rule {
	return []Rule{
		{Number: 1, Title: "Only the first request of a feed is unconditional"},
		{Number: 2, Title: "If-None-Match repeats the ETag exactly as received"},
		{Number: 3, Title: "If-Modified-Since repeats Last-Modified exactly as received, and is never invented"},
		{Number: 4, Title: "Both validators are sent if both were received"},
		{Number: 5, Title: "Validators in a 304 replace the previous ones"},
		{Number: 6, Title: "New validators are used even if the document is unchanged"},
		{Number: 7, Title: "Validators and items are stored together or not at all", Unseen: true},
		{Number: 8, Title: "Validators of one URL are never sent to another"},
		{Number: 9, Title: "The URL of the feed is not requested for other purposes"},
		{Number: 10, Title: "No invented query, no cookies"},
		{Number: 11, Title: "No Referer, not even after a redirect"},
		{Number: 12, Title: "Compressed responses are requested"},
		{Number: 13, Title: "Retry-After is respected, in seconds and as a date; an invalid value does no harm"},
		{Number: 14, Title: "After failures the waits grow, and the reader recovers by itself"},
		{Number: 15, Title: "A feed with status 410 is not requested again"},
		{Number: 16, Title: "A permanent redirect is accepted after three checks in a day, a temporary one never"},
		{Number: 17, Title: "A redirect document counts as a redirect, an empty one as 410"},
		{Number: 18, Title: "At most five redirects are followed"},
		{Number: 19, Title: "At most two connections to a host, and at least a second between two checks"},
		{Number: 20, Title: "Checks do not cluster at the start of the hour"},
		{Number: 21, Title: "A restart of the reader does not cause new requests", Unseen: true},
		{Number: 22, Title: "One request serves all users of a reader"},
		{Number: 23, Title: "The User-Agent names the program, a page about it, and the number of subscribers"},
		{Number: 24, Title: "ttl, skipHours, skipDays, sy:, max-age and Expires are respected, also after a 304"},
		{Number: 25, Title: "A user's refresh reads a feed at most once a minute", Unseen: true},
		{Number: 26, Title: "HTTP/1.1 or newer, and connections are reused"},
		{Number: 27, Title: "Requests to silent and slow servers time out"},
		{Number: 28, Title: "Endless documents are aborted"},
		{Number: 29, Title: "After a 403 the feed is not requested every hour"},
		{Number: 30, Title: "An unchanged document changes nothing", Unseen: true},
	}
}
