package location

import (
	"net/http"
	"strings"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/protocol/wsse"
)

// Values of Login.Kind.
const (
	Basic  = "basic"
	Token  = "token" // sent as "Authorization: Bearer"
	WSSE   = "wsse"
	Header = "header"
)

// Login contains the data for signing in at the server of a feed.
type Login struct {
	Kind   string `json:"kind,omitempty"`   // Basic, Token, WSSE or Header; "": no login
	Name   string `json:"name,omitempty"`   // user name (Basic, WSSE) or name of the header field (Header)
	Secret string `json:"secret,omitempty"` // encrypted with River.Key, except in the input of a user; never displayed again
}

// maxSkew is the largest difference between the clocks of this server and of a feed's server that
// does not matter to WSSE.
const maxSkew = time.Minute

// Session signs in for the requests of one check. After a rejected WSSE header, it follows the clock
// of the feed's server, and then uses the other form of the nonce. Secret must be in clear text.
//
// spec:datafeeds-2006#wsse-client-forms
type Session struct {
	Login
	ahead   time.Duration // of the server's clock
	decoded bool          // the server decodes the nonce
}

// Header returns the header fields that the login adds to the next request.
func (s *Session) Header(now time.Time) http.Header {
	h := s.Login.Header(now.Add(s.ahead))
	if s.decoded {
		h.Set(wsse.HeaderName, wsse.HeaderDecoded(s.Name, s.Secret, now.Add(s.ahead), nil))
	}
	return h
}

// Retry reports whether a request that sent the header should be repeated with a new one, after the
// response res. It returns true at most twice.
func (s *Session) Retry(res *fetch.Response, now time.Time) bool {
	if s.Kind != WSSE || s.decoded || res.Status != http.StatusUnauthorized || len(res.Redirects) > 0 {
		return false
	}
	date, err := http.ParseTime(res.Header.Get("Date"))
	if skew := date.Sub(now); err == nil && s.ahead == 0 && skew.Abs() > maxSkew {
		s.ahead = skew
	} else {
		s.decoded = true
	}
	return true
}

// Header returns the header fields that the login adds to one request. Secret must be in clear
// text.
func (l Login) Header(now time.Time) http.Header {
	h := http.Header{}
	switch l.Kind {
	case Basic:
		req := http.Request{Header: h}
		req.SetBasicAuth(l.Name, l.Secret)
	case Token:
		h.Set("Authorization", "Bearer "+l.Secret)
	case WSSE:
		h.Set("Authorization", `WSSE profile="UsernameToken"`)
		h.Set(wsse.HeaderName, wsse.Header(l.Name, l.Secret, now, nil))
	case Header:
		h.Set(l.Name, l.Secret)
	}
	return h
}

// Check validates a login that a user entered.
func (l Login) Check() error {
	switch l.Kind {
	case "":
		return nil
	case Basic, WSSE:
		if l.Name == "" || l.Kind == Basic && strings.Contains(l.Name, ":") {
			return fault.New(fault.Invalid, "The login needs a user name without a colon.")
		}
	case Token:
	case Header:
		if !isHeader(l.Name) {
			return fault.New(fault.Invalid, "%.60q is not a valid header for a login.", l.Name)
		}
	default:
		return fault.New(fault.Invalid, "Unknown kind of login %.60q: use basic, token, wsse or header.", l.Kind)
	}
	empty := l.Secret == "" && l.Kind != Basic // some servers expect a token as the user name
	if empty || len(l.Name)+len(l.Secret) > 4096 || strings.ContainsFunc(l.Name+l.Secret, isControl) {
		return fault.New(fault.Invalid, "The login's secret is empty, too long, or has characters that a header must not contain.")
	}
	return nil
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f }

// isHeader reports whether a login may set the header field name. The name must be a valid token.
// A login must not set a field that frames the request or controls the check.
func isHeader(name string) bool {
	if name == "" || len(name) > 100 {
		return false
	}
	for _, c := range []byte(name) {
		if !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	switch http.CanonicalHeaderKey(name) {
	case "Host", "Connection", "Content-Length", "Content-Type", "Transfer-Encoding", "Te", "Trailer", "Upgrade", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "Expect",
		"Accept", "Accept-Encoding", "User-Agent", "Referer", "Range", "If-None-Match", "If-Modified-Since", "If-Range", "If-Match", "If-Unmodified-Since":
		return false
	}
	return true
}
