package accountui

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/indieauth"
	"cloudburst/protocol/rsscloud"
)

// Apps reads the metadata of a program from its URL. If Client returns an error, the returned
// Client still has its ID.
type Apps interface {
	Client(ctx context.Context, id string) (indieauth.Client, error)
}

// authorizeView is the page on which users grant access to a program.
type authorizeView struct {
	shell.View
	Name, URL, Logo string // name, URL and logo of the program; the URL is its client_id
	To              string // redirect URI, if its origin differs from the origin of the client_id; else ""
	Me              string
	Unread          string // reason why the metadata could not be read; "": it was read
	Plain           bool   // the program does not use PKCE
	Scopes          []scope
	Ask             string
}

// authorizePolicy lets the form redirect to the program, because browsers apply form-action to
// redirects too.
var authorizePolicy = strings.Replace(shell.Policy, " form-action 'self';", "", 1)

// authorizePage is the authorization endpoint for browsers. The user sees errors of the program's
// URL and redirect URI; all other errors are sent to the program.
//
// spec:indieauth-2024#authorization-request
func (s *Pages) authorizePage(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	request, refusal, bad := indieauth.ParseRequest(r.URL.Query())
	if bad != nil {
		return s.appProblem(rw, r, "The app sent an invalid request: "+bad.Error()+".")
	}
	app, unread := s.Apps.Client(r.Context(), request.ClientID)
	if !request.Trusts(app) {
		text := "The app at " + shell.CleanText(request.ClientID, 200) + " wants to redirect you to " + shell.CleanText(request.RedirectURI, 200) + ", which is another site that the app does not list."
		if unread != nil {
			text += " " + fault.Message(unread)
		}
		return s.appProblem(rw, r, text)
	}
	if refusal != nil {
		http.Redirect(rw, r, request.Refuse(s.issuer(r), refusal), http.StatusFound)
		return nil
	}
	name := app.Name
	if name == "" {
		name = shell.HostOf(request.ClientID)
	}
	ask, err := s.Accounts.SealRequest(r.Context(), account.Authorization{
		User: session.User, ClientID: request.ClientID, ClientName: shell.CleanText(name, 100), RedirectURI: request.RedirectURI, State: request.State, Challenge: request.Challenge,
	})
	if err != nil {
		return err
	}
	v := authorizeView{
		View: s.NewView(r, "Sign in to "+shell.CleanText(name, 100)), Name: shell.CleanText(name, 100), URL: shell.CleanText(request.ClientID, 300), Me: s.BaseURL(r) + "/" + session.User + "/",
		Plain: request.Challenge == "", Scopes: askedScopes(request.Scopes), Ask: ask,
	}
	if !request.SameOrigin() {
		v.To = shell.CleanText(request.RedirectURI, 300)
	}
	if unread != nil {
		v.Unread = fault.Message(unread)
	}
	if app.Logo != "" && s.Images == content.ImagesProxy && s.Remote != nil && len(s.ImageKey) > 0 {
		v.Logo = s.ProxyURL(app.Logo)
	}
	rw.Header().Set("Content-Security-Policy", authorizePolicy)
	return s.Render(rw, r, http.StatusOK, "authorize", v)
}

func (s *Pages) issuer(r *http.Request) string { return s.BaseURL(r) + "/" }

func (s *Pages) appProblem(rw http.ResponseWriter, r *http.Request, text string) error {
	return s.Problem(rw, r, http.StatusBadRequest, "This app cannot sign you in", text)
}

// askedScopes lists the known scopes of a request, all selected. The scope "post" is an
// old name of the scope "create".
func askedScopes(wanted []string) (all []scope) {
	if slices.Contains(wanted, "post") {
		wanted = append(slices.Clone(wanted), "create")
	}
	for _, known := range append([]scope{{"profile", "See your name and image", true}, {"email", "See your public email address", true}}, scopes(account.Scopes())...) {
		if slices.Contains(wanted, known.Value) {
			all = append(all, known)
		}
	}
	return all
}

// doAuthorize redirects the browser to the program, with a code or a refusal. The form has the
// sealed request of this user, so the decision applies exactly to the request on the page.
//
// spec:indieauth-2024#authorization-response
func (s *Pages) doAuthorize(rw http.ResponseWriter, r *http.Request, session account.Session, form rsscloud.Form) error {
	z, err := s.Accounts.OpenRequest(session.User, shell.FormValue(form, "ask"))
	if err != nil {
		return err
	}
	back := indieauth.Request{ClientID: z.ClientID, RedirectURI: z.RedirectURI, State: z.State}
	if shell.FormValue(form, "decision") != "allow" {
		return shell.Redirect(rw, r, back.Refuse(s.issuer(r), &indieauth.Error{Code: indieauth.AccessDenied, Description: "The user did not allow it."}))
	}
	for _, known := range askedScopes(append([]string{"profile", "email"}, account.Scopes()...)) {
		if slices.ContainsFunc(form, func(f rsscloud.Field) bool { return f.Name == "scope" && f.Value == known.Value }) {
			z.Scopes = append(z.Scopes, known.Value)
		}
	}
	code, err := s.Accounts.Allow(z)
	if err != nil {
		return err
	}
	return shell.Redirect(rw, r, back.Redirect(s.issuer(r), code))
}
