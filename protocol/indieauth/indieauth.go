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

// maxParam is the maximum length of each parameter of a request, in bytes.
const maxParam = 2048

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

func authority(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
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
