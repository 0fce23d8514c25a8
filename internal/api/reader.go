package api

import (
	"cmp"
	"net/http"

	"cloudburst/client"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

// readerRoutes returns the endpoints for the secrets of readers of private feeds.
func (s accountAPI) readerRoutes() []operation {
	return []operation{
		{"GET", "/v1/feeds/{user}/private/secrets", s.withAccounts(plain(s.secrets))},
		{"POST", "/v1/feeds/{user}/private/secrets", s.withAccounts(s.newSecret)},
		{"DELETE", "/v1/feeds/{user}/private/secrets/{selector}", s.withAccounts(plain(s.revokeSecret))},
	}
}

func (s accountAPI) secrets(w http.ResponseWriter, r *http.Request) error {
	// If the user does not exist, send an error instead of an empty list.
	u, err := s.Accounts.User(r.Context(), r.PathValue("user"))
	if err != nil {
		return err
	}
	groups := []author.Group{{Slug: author.DefaultGroup}} // without Options.Posts, users have only the default group
	if s.Posts != nil {
		if groups, err = s.Posts.Groups(r.Context(), u.Name); err != nil {
			return err
		}
	}
	list := []client.Secret{}
	for _, g := range groups {
		rows, err := s.Accounts.Secrets(r.Context(), u.Name, author.GroupFeed(g.Slug))
		if err != nil {
			return err
		}
		for _, secret := range rows {
			list = append(list, form.Secret(secret))
		}
	}
	return exchange.OK(w, map[string][]client.Secret{"secrets": list})
}

func (s accountAPI) newSecret(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Reader string `json:"reader"`
		Group  string `json:"group"`
	}
	if err := exchange.ReadJSON(w, r, &in); err != nil {
		return err
	}
	in.Group = cmp.Or(in.Group, author.DefaultGroup)
	if in.Group != author.DefaultGroup {
		if s.Posts == nil {
			return fault.New(fault.Unsupported, "This server does not support posts, so there are no groups.")
		}
		if _, err := s.Posts.Group(r.Context(), r.PathValue("user"), in.Group); err != nil {
			return err
		}
	}
	secret, err := s.Accounts.NewSecret(r.Context(), r.PathValue("user"), author.GroupFeed(in.Group), in.Reader)
	if err != nil {
		return err
	}
	out := form.Secret(secret)
	// The name for HTTP Basic is the selector, because the name of a reader can contain a colon,
	// which HTTP Basic does not allow.
	out.Access = &client.FeedAccess{
		URL:     s.origin() + author.GroupBase(secret.User, in.Group) + secret.Selector + "." + secret.Plain + "/rss.xml",
		Address: s.feedURL(secret.User, secret.Feed), Name: secret.Selector, Password: secret.Plain,
	}
	return exchange.OK(w, out)
}

func (s accountAPI) revokeSecret(w http.ResponseWriter, r *http.Request) error {
	selector := r.PathValue("selector")
	err := s.Accounts.RevokeSecret(r.Context(), r.PathValue("user"), selector)
	return exchange.Answer(w, map[string]string{"revoked": selector}, err)
}
