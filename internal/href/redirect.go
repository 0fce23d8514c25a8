package href

import (
	"net/http"
	"strings"
)

// RedirectTarget is the address to which an answer redirects, without a fragment, "" when
// the answer does not redirect. A Location that cannot be parsed is returned as it is.
func RedirectTarget(res *http.Response) string {
	switch res.StatusCode {
	case 301, 302, 303, 307, 308:
	default:
		return ""
	}
	to := strings.TrimSpace(res.Header.Get("Location"))
	if to == "" || res.Request == nil {
		return to
	}
	u, err := res.Request.URL.Parse(to)
	if err != nil {
		return to
	}
	u.Fragment, u.RawFragment = "", ""
	return u.String()
}
