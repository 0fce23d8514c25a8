package location

import (
	"net/url"

	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/protocol/webfinger"
)

// account returns the WebFinger query for an account such as @name@example.org. The response to
// the query names the page and the feed of the account. ok is false if typed is not an account.
func account(typed string) (l Location, ok bool) {
	a, ok := webfinger.ParseAccount(typed)
	if !ok {
		return l, false
	}
	u, err := fetch.Normal(a.URL())
	return Location{URLs: []string{u}}, err == nil
}

// accountOf returns the account that a WebFinger query asks for.
func accountOf(query string) (a webfinger.Account, ok bool) {
	u, err := url.Parse(query)
	if err != nil || u.Path != webfinger.Path {
		return a, false
	}
	return webfinger.Split(u.Query().Get("resource"))
}

// Account reads the response to a WebFinger query and returns the URLs of the account's feed and
// page. A URL is "" if the response does not name it. ok is false if query is not a WebFinger
// query, or if the response names neither.
func Account(query string, answer []byte) (feed, page string, ok bool) {
	if _, ok = accountOf(query); !ok {
		return "", "", false
	}
	d, ok := webfinger.Read(answer)
	if feed, page = d.Feed(); page != "" {
		if _, again := accountOf(page); again { // reject a page that is a query itself, so that lookups end
			page = ""
		}
	}
	return feed, page, ok && feed+page != ""
}

// AccountError returns an error that names the account if err is the failure of a WebFinger
// query. For any other URL it returns err.
func AccountError(query string, err error) error {
	a, ok := accountOf(query)
	if !ok || fault.CodeOf(err) != fault.NotFound && fault.CodeOf(err) != fault.Unreadable {
		return err
	}
	return fault.Wrap(fault.CodeOf(err), err, "%s did not say who %s is. Check the spelling, or enter the URL of their page.", a.Host, a)
}
