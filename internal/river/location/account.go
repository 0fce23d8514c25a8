package location

import (
	"net/url"

	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/protocol/webfinger"
)

// account returns the query for an account such as @name@example.org, whose answer names its page and
// feed. ok is false for any other text.
func account(typed string) (l Location, ok bool) {
	a, ok := webfinger.ParseAccount(typed)
	if !ok {
		return l, false
	}
	u, err := fetch.Normal(a.URL())
	return Location{URLs: []string{u}}, err == nil
}

// accountOf returns the account that a URL asks for.
func accountOf(query string) (a webfinger.Account, ok bool) {
	u, err := url.Parse(query)
	if err != nil || u.Path != webfinger.Path {
		return a, false
	}
	return webfinger.Split(u.Query().Get("resource"))
}

// Account reads the answer to a query for an account: the URLs of its feed and of its page, "" if there
// is none. ok is false if query is no such query, or the answer names neither.
func Account(query string, answer []byte) (feed, page string, ok bool) {
	if _, ok = accountOf(query); !ok {
		return "", "", false
	}
	d, ok := webfinger.Read(answer)
	if feed, page = d.Feed(); page != "" {
		if _, again := accountOf(page); again { // a page is never a query, so that lookups end
			page = ""
		}
	}
	return feed, page, ok && feed+page != ""
}

// AccountError returns err in words about the account that a query asks for; err for any other URL.
func AccountError(query string, err error) error {
	a, ok := accountOf(query)
	if !ok || fault.CodeOf(err) != fault.NotFound && fault.CodeOf(err) != fault.Unreadable {
		return err
	}
	return fault.Wrap(fault.CodeOf(err), err, "%s did not say who %s is. Check the spelling, or enter the URL of their page.", a.Host, a)
}
