// Package politeness scores programs that read feeds by 30 polite fetching rules. It serves probe
// feeds, each of which tests one or two rules, and records every request. It reports which rules a
// reader kept, which it broke, and which need more observations.
//
// Start with [Server]: its front page shows the score, /probes.opml is the subscription list for
// the reader, and /report.json is the score as JSON. Readers are distinguished by address and by
// the first word of their User-Agent.
//
// Some rules cannot be observed from outside, such as what a reader stores and how it reacts to
// buttons. The report lists them without a verdict.
package politeness

// Rule is one polite fetching rule.
type Rule struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	Unseen bool   `json:"unseen,omitempty"` // cannot be observed from outside
}

// Rules returns all rules by number.
func Rules() []Rule {
	return []Rule{
		{Number: 1, Title: "Only the first request of a feed is unconditional"},
		{Number: 2, Title: "If-None-Match carries the ETag exactly as it was given"},
		{Number: 3, Title: "If-Modified-Since carries Last-Modified exactly as it was given, and is never made up"},
		{Number: 4, Title: "Both validators are sent where both were given"},
		{Number: 5, Title: "Validators that come with a 304 take the place of the old"},
		{Number: 6, Title: "The same document with new validators: the new ones are used"},
		{Number: 7, Title: "Validators and items are kept together or not at all", Unseen: true},
		{Number: 8, Title: "Validators of one address are never sent to another"},
		{Number: 9, Title: "Nothing else is looked for at the address of the feed"},
		{Number: 10, Title: "No made-up query, no cookies"},
		{Number: 11, Title: "No Referer, not even after a redirect"},
		{Number: 12, Title: "Packed answers are asked for"},
		{Number: 13, Title: "Retry-After is waited for, in seconds and as a date; nonsense in it does no harm"},
		{Number: 14, Title: "Failures lead to growing waits, and the reader comes back by itself"},
		{Number: 15, Title: "A feed that is gone (410) is not asked for again"},
		{Number: 16, Title: "A permanent redirect is believed after three checks in a day, a temporary one never"},
		{Number: 17, Title: "A redirect document means the same as a redirect, an empty one the same as 410"},
		{Number: 18, Title: "At most five redirects are followed"},
		{Number: 19, Title: "At most two connections to a host, and a second between two checks"},
		{Number: 20, Title: "Checks do not gather at the top of the hour"},
		{Number: 21, Title: "A restart of the reader is no reason to read anything again", Unseen: true},
		{Number: 22, Title: "One request serves all users of a reader"},
		{Number: 23, Title: "The User-Agent says which program, where it is explained, and how many it reads for"},
		{Number: 24, Title: "ttl, skipHours, skipDays, sy:, max-age and Expires hold, after a 304 too"},
		{Number: 25, Title: "A user's refresh reads a feed once a minute at most", Unseen: true},
		{Number: 26, Title: "HTTP/1.1 or newer, and connections are used again"},
		{Number: 27, Title: "Silent and dripping servers are given up"},
		{Number: 28, Title: "Endless documents are given up"},
		{Number: 29, Title: "A refusal (403) is not tried again every hour"},
		{Number: 30, Title: "A document that is the same changes nothing", Unseen: true},
	}
}
