package api

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"cloudburst/client"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/author"
	"cloudburst/internal/author/rules"
	"cloudburst/internal/author/version"
	"cloudburst/internal/fault"
)

// Versions lists and restores earlier versions of posts. [version.Versions] implements it.
type Versions interface {
	List(ctx context.Context, user string, id int64) ([]version.Version, error)
	Restore(ctx context.Context, user string, id, n, base int64, via string) (author.DraftEdit, error)
}

// Rules changes the rules of authors for their texts. [author.RuleSettings] implements it.
type Rules interface {
	SetRules(ctx context.Context, user string, r rules.Rules) error
}

func (s postAPI) versions(c *postCall) error {
	id, err := c.plain()
	if err != nil {
		return err
	}
	all, err := s.Versions.List(c.ctx(), c.user, id)
	if err != nil {
		return err
	}
	out := struct {
		Versions []client.PostVersion `json:"versions"`
	}{Versions: make([]client.PostVersion, len(all))}
	for i, v := range all {
		out.Versions[i] = form.Version(v)
	}
	return exchange.OK(c.w, out)
}

func (s postAPI) restoreVersion(c *postCall) error {
	id, err := c.plain()
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(c.r.PathValue("number"), 10, 64)
	if err != nil || n <= 0 {
		return fault.New(fault.Invalid, "%q is not a version: it must be a number.", cut(c.r.PathValue("number"), 100))
	}
	d, err := s.Versions.Restore(c.ctx(), c.user, id, n, 0, c.via())
	if err != nil {
		return err
	}
	p, err := s.Posts.Get(c.ctx(), c.user, cmp.Or(d.Draft, d.ID))
	return s.answerPost(c, http.StatusOK, 0, p, err)
}
