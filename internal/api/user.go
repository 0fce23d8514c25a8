package api

import (
	"context"
	"net/http"

	"cloudburst/client"
	"cloudburst/internal/account"
	"cloudburst/internal/admin"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/fault"
)

// Accounts manages the users of this server, the tokens of their programs, and the secrets of
// readers of their private feeds. [*account.Accounts] implements it.
type Accounts interface {
	AccountUsers
	AccountTokens
	AccountSecrets
}

// AccountUsers adds, lists and changes users.
type AccountUsers interface {
	Add(ctx context.Context, name, password string) (account.User, error)
	Users(ctx context.Context, after string, limit int) ([]account.User, error)
	User(ctx context.Context, name string) (account.User, error)
	SetPassword(ctx context.Context, name, password string) error
	Disable(ctx context.Context, name string, disabled bool) error
}

// AccountTokens creates and revokes tokens of programs.
type AccountTokens interface {
	NewToken(ctx context.Context, user, label string, scopes []string) (plain string, t account.Token, err error)
	Tokens(ctx context.Context, user string) ([]account.Token, error)
	RevokeToken(ctx context.Context, user, id string) error
}

// AccountSecrets creates and revokes secrets of readers.
type AccountSecrets interface {
	NewSecret(ctx context.Context, user, feed, reader string) (account.Secret, error)
	Secrets(ctx context.Context, user, feed string) ([]account.Secret, error)
	RevokeSecret(ctx context.Context, user, selector string) error
}

// accountAPI implements the endpoints for users, their feeds, readers' secrets and transfers.
type accountAPI struct{ *Server }

// userRoutes returns the endpoints for users and their tokens.
func (s accountAPI) userRoutes() []operation {
	return []operation{
		{"GET", "/v1/users", s.withAccounts(s.users)},
		{"POST", "/v1/users", s.withAccounts(s.addUser)},
		{"GET", "/v1/users/{user}", s.withAccounts(plain(s.answerUser))},
		{"POST", "/v1/users/{user}/password", s.withAccounts(s.setPassword)},
		{"POST", "/v1/users/{user}/disabled", s.withAccounts(s.disableUser)},
		{"GET", "/v1/users/{user}/tokens", s.withAccounts(plain(s.tokens))},
		{"POST", "/v1/users/{user}/tokens", s.withAccounts(s.newToken)},
		{"DELETE", "/v1/users/{user}/tokens/{id}", s.withAccounts(plain(s.revokeToken))},
		{"GET", "/v1/users/{user}/readers", s.withAccounts(s.readers)},
	}
}

// withAccounts wraps an endpoint that requires Options.Accounts.
func (s accountAPI) withAccounts(handle func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if s.Options.Accounts == nil {
			return fault.New(fault.Unsupported, "This server has no users.")
		}
		return handle(w, r)
	}
}

func (s accountAPI) users(w http.ResponseWriter, r *http.Request) error {
	p := exchange.ReadParams(r, exchange.Paged()...)
	cursor, limit := p.Cursor(), p.Limit()
	if p.Err != nil {
		return p.Err
	}
	rows, err := s.Accounts.Users(r.Context(), cursor, limit)
	if err != nil {
		return err
	}
	page := exchange.Page{Name: "users", Rows: exchange.List(rows, form.User)}
	if len(rows) == limit {
		page.Next = rows[len(rows)-1].Name
	}
	return exchange.OK(w, page)
}

func (s accountAPI) addUser(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Name     string `json:"name"`
		Password string `json:"password"`
	}
	if err := exchange.ReadJSON(w, r, &in); err != nil {
		return err
	}
	var u account.User
	err := s.audited(r, admin.UserCreate, in.Name, "", func() (err error) {
		u, err = s.Accounts.Add(r.Context(), in.Name, in.Password)
		return err
	})
	return exchange.Answer(w, form.User(u), err)
}

// answerUser sends the user whose name is in the path.
func (s accountAPI) answerUser(w http.ResponseWriter, r *http.Request) error {
	u, err := s.Accounts.User(r.Context(), r.PathValue("user"))
	return exchange.Answer(w, form.User(u), err)
}

func (s accountAPI) setPassword(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Password string `json:"password"`
	}
	if err := exchange.ReadJSON(w, r, &in); err != nil {
		return err
	}
	name := r.PathValue("user")
	err := s.audited(r, admin.UserPassword, name, "", func() error { return s.Accounts.SetPassword(r.Context(), name, in.Password) })
	if err != nil {
		return err
	}
	return s.answerUser(w, r)
}

func (s accountAPI) disableUser(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Disabled *bool `json:"disabled"`
	}
	if err := exchange.ReadJSON(w, r, &in); err != nil {
		return err
	}
	if in.Disabled == nil {
		return fault.New(fault.Invalid, "disabled is missing: it must be true or false.")
	}
	name, action := r.PathValue("user"), admin.UserEnable
	if *in.Disabled {
		action = admin.UserDisable
	}
	err := s.audited(r, action, name, "", func() error { return s.Accounts.Disable(r.Context(), name, *in.Disabled) })
	if err != nil {
		return err
	}
	return s.answerUser(w, r)
}

func (s accountAPI) tokens(w http.ResponseWriter, r *http.Request) error {
	// If the user does not exist, send an error instead of an empty list.
	u, err := s.Accounts.User(r.Context(), r.PathValue("user"))
	if err != nil {
		return err
	}
	rows, err := s.Accounts.Tokens(r.Context(), u.Name)
	if err != nil {
		return err
	}
	return exchange.OK(w, map[string]any{"tokens": exchange.List(rows, form.Token)})
}

func (s accountAPI) newToken(w http.ResponseWriter, r *http.Request) error {
	var in client.TokenRequest
	if err := exchange.ReadJSON(w, r, &in); err != nil {
		return err
	}
	plain, t, err := s.Accounts.NewToken(r.Context(), r.PathValue("user"), in.Label, in.Scopes)
	if err != nil {
		return err
	}
	out := form.Token(t)
	out.Token = plain
	return exchange.OK(w, out)
}

func (s accountAPI) revokeToken(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	err := s.Accounts.RevokeToken(r.Context(), r.PathValue("user"), id)
	return exchange.Answer(w, map[string]string{"revoked": id}, err)
}
