// Package indieauth implements the server side of IndieAuth (IndieWeb, 11 July 2024).
// People sign in to programs with the URL of their page, and the server of that page issues
// access tokens to the programs. The protocol is OAuth 2.0 with URLs as the identifiers of
// users and programs.
//
// [ParseRequest] reads an authorization request, and [ParseClient] the self-description of
// its program. After the user has consented, [Request.Redirect] returns the URL of the
// program with a code. A [Server] with a [Backend] has the endpoints that programs then
// call: it redeems codes, and introspects and revokes tokens. [Metadata] lists all
// endpoints.
//
// # Interoperability
//
//   - PKCE is verified if a request has a code_challenge, with S256 only. Programs from
//     before 2020 send none, and the specification permits servers to accept them.
//   - grant_type may be missing at both endpoints, as in the first drafts.
//   - A GET of the token endpoint with a token describes the token, and a POST with
//     action=revoke ends it. Programs used these before introspection and revocation had
//     endpoints of their own.
package indieauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"cloudburst/internal/text"
)

// Error codes sent to programs.
const (
	InvalidRequest       = "invalid_request"
	InvalidGrant         = "invalid_grant"
	InvalidScope         = "invalid_scope"
	InvalidToken         = "invalid_token"
	AccessDenied         = "access_denied"
	UnsupportedResponse  = "unsupported_response_type"
	UnsupportedGrantType = "unsupported_grant_type"
	ServerError          = "server_error"
	Unavailable          = "temporarily_unavailable"
)

// Error is a refusal that is sent to the program.
type Error struct {
	Status      int    // HTTP status; 0: 400
	Code        string // one of the error codes above
	Description string // a sentence for people
}

func (e *Error) Error() string { return "indieauth: " + e.Code + ": " + e.Description }

func errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Description: fmt.Sprintf(format, args...)}
}

// Request is an authorization request.
type Request struct {
	ClientID    string   // URL of the program
	RedirectURI string   // URL that receives the response
	State       string   // returned with the response
	Challenge   string   // code_challenge for S256; "": no PKCE
	Scopes      []string // requested permissions; empty: only the identity
	Me          string   // URL of the user's page as typed by the user; "": none
}

// maxParam is the maximum length of each parameter of a request, in bytes.
const maxParam = 2048

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

func isChallenge(s string) bool {
	b, err := base64.RawURLEncoding.DecodeString(s)
	return err == nil && len(b) == sha256.Size
}

// Verified reports whether verifier matches the code_challenge with S256. For a request
// without a challenge the verifier must be empty.
//
// spec:indieauth-2024#pkce
func Verified(challenge, verifier string) bool {
	if challenge == "" {
		return verifier == ""
	}
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(challenge), []byte(base64.RawURLEncoding.EncodeToString(sum[:]))) == 1
}

// CheckClientID returns an error if the URL of a program is invalid.
//
// spec:indieauth-2024#client-id
func CheckClientID(id string) error {
	if id == "" {
		return fmt.Errorf("the parameter client_id is missing: it must be the URL of the program")
	}
	u, err := url.Parse(id)
	wrong := func(what string) error { return fmt.Errorf("the client_id %q %s", clip(id), what) }
	switch {
	case err != nil || len(id) > maxParam || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return wrong("is not an http or https URL")
	case u.User != nil || u.Fragment != "" || strings.Contains(id, "#"):
		return wrong("has a user name or a fragment")
	case slices.ContainsFunc(strings.Split(u.Path, "/"), func(s string) bool { return s == "." || s == ".." }):
		return wrong("has . or .. in its path")
	}
	if a, err := netip.ParseAddr(u.Hostname()); err == nil && !a.IsLoopback() {
		return wrong("has an IP address for a host: only 127.0.0.1 and [::1] are accepted")
	}
	return nil
}

// Loopback reports whether a program runs on its user's computer. Servers cannot read its
// URL.
func Loopback(clientID string) bool {
	u, err := url.Parse(clientID)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	a, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && a.IsLoopback()
}

// scriptSchemes are URL schemes that browsers execute or display themselves, instead of starting
// another program.
var scriptSchemes = []string{"javascript", "data", "vbscript", "file", "blob", "about", "view-source", "filesystem"}

func checkRedirect(to string) error {
	if to == "" {
		return fmt.Errorf("the parameter redirect_uri is missing")
	}
	u, err := url.Parse(to)
	wrong := func(what string) error { return fmt.Errorf("the redirect_uri %q %s", clip(to), what) }
	switch {
	case err != nil || len(to) > maxParam || u.Scheme == "" || strings.ContainsAny(to, " \t\r\n\\"):
		return wrong("is not an absolute URL")
	case slices.Contains(scriptSchemes, u.Scheme):
		return wrong("does not lead to a program")
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host == "":
		return wrong("has no host")
	case u.User != nil || strings.Contains(to, "#"):
		return wrong("has a user name or a fragment")
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

func authority(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
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

// Metadata lists the endpoints of a server.
//
// spec:indieauth-2024#metadata
type Metadata struct {
	Issuer                 string   `json:"issuer"`
	Authorization          string   `json:"authorization_endpoint"`
	Token                  string   `json:"token_endpoint"`
	Introspection          string   `json:"introspection_endpoint"`
	IntrospectionMethods   []string `json:"introspection_endpoint_auth_methods_supported"`
	Revocation             string   `json:"revocation_endpoint"`
	RevocationMethods      []string `json:"revocation_endpoint_auth_methods_supported"`
	Scopes                 []string `json:"scopes_supported"`
	ResponseTypes          []string `json:"response_types_supported"`
	GrantTypes             []string `json:"grant_types_supported"`
	Challenges             []string `json:"code_challenge_methods_supported"`
	IssuerInResponse       bool     `json:"authorization_response_iss_parameter_supported"`
	ServiceDocumentation   string   `json:"service_documentation,omitempty"`
	ClientMetadataDocument bool     `json:"client_id_metadata_document_supported"`
}

// clip shortens a value for an error message.
func clip(s string) string { return text.Clip(s, 80) }
