package href

import "strings"

// WithoutTracking returns a link without the query parameters that identify a campaign or a session,
// because these differ from read to read.
func WithoutTracking(link string) string {
	i := strings.IndexByte(link, '?')
	if i < 0 {
		return link
	}
	query, fragment, _ := strings.Cut(link[i+1:], "#")
	steady, sep := append(make([]byte, 0, len(link)), link[:i]...), byte('?')
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if !isTracking(strings.ToLower(name[:min(len(name), longestTracking)])) {
			steady = append(append(steady, sep), pair...)
			sep = '&'
		}
	}
	if fragment != "" {
		steady = append(append(steady, '#'), fragment...)
	}
	return string(steady)
}

// longestTracking is greater than the length of the name of any tracking parameter, in bytes.
const longestTracking = 40

// isTracking reports whether a query parameter identifies a campaign or session, not a page.
func isTracking(name string) bool {
	if strings.HasPrefix(name, "utm_") || strings.HasPrefix(name, "at_") && len(name) > 5 {
		return true
	}
	switch name {
	case "fbclid", "gclid", "dclid", "msclkid", "mc_cid", "mc_eid", "igshid", "yclid", "_hsenc", "_hsmi",
		"phpsessid", "jsessionid", "sessionid", "session_id", "sid", "cmpid", "cid", "ns_mchannel", "ns_campaign", "ns_source",
		"xtor", "partner", "ref", "ref_src", "feature", "_ga", "rss":
		return true
	}
	return false
}
