package api

import (
	"cmp"
	"net/http"
	"strconv"

	"cloudburst/client"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/fault"
)

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
