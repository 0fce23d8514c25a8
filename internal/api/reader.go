package api

import (
	"net/http"

	"cloudburst/client"
	"cloudburst/internal/api/form"
	"cloudburst/internal/author"
)

// readerRoutes returns the endpoints for the secrets of private feeds.
func (s accountAPI) readerRoutes() []operation {
	return []operation{
		{"GET", "/v1/feeds/{user}/private/secrets", s.withAccounts(s.secrets)},
		{"POST", "/v1/feeds/{user}/private/secrets", s.withAccounts(s.newSecret)},
		{"DELETE", "/v1/feeds/{user}/private/secrets/{selector}", s.withAccounts(s.revokeSecret)},
	}
}

func (s accountAPI) secrets(w http.ResponseWriter, r *http.Request) error {
	if p := readParams(r); p.err != nil {
		return p.err
	}
	// Distinguish an unknown user from a user without secrets.
	u, err := s.Accounts.User(r.Context(), r.PathValue("user"))
	if err != nil {
		return err
	}
	rows, err := s.Accounts.Secrets(r.Context(), u.Name, author.Private)
	if err != nil {
		return err
	}
	list := make([]client.Secret, len(rows))
	for i, secret := range rows {
		list[i] = form.Secret(secret)
	}
	return ok(w, struct {
		Secrets []client.Secret `json:"secrets"`
	}{list})
}

func (s accountAPI) newSecret(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Reader string `json:"reader"`
	}
	if err := readJSON(w, r, &in); err != nil {
		return err
	}
	secret, err := s.Accounts.NewSecret(r.Context(), r.PathValue("user"), author.Private, in.Reader)
	if err != nil {
		return err
	}
	out := form.Secret(secret)
	// The user name is the selector because the label of a reader can contain a colon.
	out.Access = &client.FeedAccess{
		URL:     s.origin() + "/" + secret.User + "/private/" + secret.Selector + "." + secret.Plain + "/rss.xml",
		Address: s.feedURL(secret.User, author.Private), Name: secret.Selector, Password: secret.Plain,
	}
	return ok(w, out)
}

func (s accountAPI) revokeSecret(w http.ResponseWriter, r *http.Request) error {
	if p := readParams(r); p.err != nil {
		return p.err
	}
	selector := r.PathValue("selector")
	if err := s.Accounts.RevokeSecret(r.Context(), r.PathValue("user"), selector); err != nil {
		return err
	}
	return ok(w, struct {
		Revoked string `json:"revoked"`
	}{selector})
}
