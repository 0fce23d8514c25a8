package indieauth

import (
	"net/url"
	"slices"
	"strings"
)

// Request is an authorization request.
type Request struct {
	ClientID    string   // URL of the program
	RedirectURI string   // URL that receives the response
	State       string   // returned with the response
	Challenge   string   // code_challenge for S256; "": no PKCE
	Scopes      []string // requested permissions; empty: only the identity
	Me          string   // URL of the user's page as typed by the user; "": none
}

// ParseRequest parses the parameters of an authorization request. If bad is not nil, the
// program or its redirect URI cannot be trusted: show the error to the user only. If
// refusal is not nil, send it to the program with [Request.Refuse], provided that
// [Request.Trusts] its redirect URI.
//
// spec:indieauth-2024#authorization-request
func ParseRequest(q url.Values) (r Request, refusal *Error, bad error) {
	one := func(name string) string {
		values := q[name]
		if len(values) > 1 && refusal == nil {
			refusal = errorf(InvalidRequest, "The parameter %s is there %d times.", name, len(values))
		}
		if len(values) == 0 {
			return ""
		}
		if len(values[0]) > maxParam && refusal == nil {
			refusal = errorf(InvalidRequest, "The parameter %s has more than %d bytes.", name, maxParam)
		}
		return values[0]
	}
	r = Request{
		ClientID: one("client_id"), RedirectURI: one("redirect_uri"), State: one("state"), Challenge: one("code_challenge"), Me: one("me"),
		Scopes: strings.Fields(one("scope")),
	}
	if bad = CheckClientID(r.ClientID); bad == nil {
		bad = checkRedirect(r.RedirectURI)
	}
	if kind, method := one("response_type"), one("code_challenge_method"); refusal == nil {
		refusal = r.check(kind, method)
	}
	return r, refusal, bad
}

func (r *Request) check(kind, method string) *Error {
	switch {
	case kind == "":
		return errorf(InvalidRequest, "The parameter response_type is missing: it must be code.")
	case kind != "code":
		return errorf(UnsupportedResponse, "The response_type is %q: only code is supported.", clip(kind))
	case r.State == "":
		return errorf(InvalidRequest, "The parameter state is missing.")
	case r.Challenge == "" && method != "":
		return errorf(InvalidRequest, "The parameter code_challenge is missing, and there is a code_challenge_method.")
	case r.Challenge != "" && method != "S256":
		return errorf(InvalidRequest, "The code_challenge_method is %q: only S256 is supported.", clip(method))
	case r.Challenge != "" && !isChallenge(r.Challenge):
		return errorf(InvalidRequest, "The code_challenge must be a SHA-256 in base64url, which has 43 characters.")
	}
	return nil
}

// SameOrigin reports whether the redirect URI has the scheme, host and port of the
// program's URL. In this case the program does not need to list it.
//
// spec:indieauth-2024#redirect-url
func (r Request) SameOrigin() bool {
	id, err := url.Parse(r.ClientID)
	to, err2 := url.Parse(r.RedirectURI)
	return err == nil && err2 == nil && id.Scheme == to.Scheme && authority(id) == authority(to)
}

// Trusts reports whether a response may be sent to the redirect URI: it has the origin of
// the program, or the program lists it.
func (r Request) Trusts(c Client) bool {
	return r.SameOrigin() || slices.Contains(c.Redirects, r.RedirectURI)
}

// Redirect returns the URL of the redirect with a code. issuer is the Issuer of [Metadata].
//
// spec:indieauth-2024#authorization-response
func (r Request) Redirect(issuer, code string) string {
	return r.redirect("code", code, "iss", issuer)
}

// Refuse returns the URL of the redirect with an error. issuer is the Issuer of [Metadata].
func (r Request) Refuse(issuer string, e *Error) string {
	return r.redirect("error", e.Code, "error_description", e.Description, "iss", issuer)
}

func (r Request) redirect(pairs ...string) string {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	if r.State != "" {
		q.Set("state", r.State)
	}
	base, _, _ := strings.Cut(r.RedirectURI, "#")
	switch {
	case !strings.Contains(base, "?"):
		base += "?"
	case !strings.HasSuffix(base, "?") && !strings.HasSuffix(base, "&"):
		base += "&"
	}
	return base + q.Encode()
}
