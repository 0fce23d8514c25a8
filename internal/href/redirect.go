package href

import (
	"net/http"
	"strings"
)

// RedirectTarget returns the absolute URL to which a response redirects, without a fragment; "" if
// it does not redirect. A Location that cannot be parsed is returned unchanged.
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
