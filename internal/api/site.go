package api

import (
	"cmp"

	"cloudburst/client"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

// siteRoutes lists the endpoints for a user's page.
func siteRoutes() []postRoute {
	change, read := []string{scopeUpdate}, []string{scopeCreate, scopeUpdate, scopeDelete}
	return []postRoute{
		{"GET", "/v1/users/{user}/pages", read, withSite((postAPI).pages)},
		{"GET", "/v1/users/{user}/pages/{slug}", read, withSite((postAPI).page)},
		{"PUT", "/v1/users/{user}/pages/{slug}", change, withSite((postAPI).savePage)},
		{"DELETE", "/v1/users/{user}/pages/{slug}", []string{scopeDelete}, withSite((postAPI).deletePage)},
		{"GET", "/v1/users/{user}/style", read, withSite((postAPI).style)},
		{"PUT", "/v1/users/{user}/style", change, withSite((postAPI).setStyle)},
	}
}

// withSite wraps an endpoint that requires Options.Site.
func withSite(handle func(postAPI, *postCall) error) func(postAPI, *postCall) error {
	return func(s postAPI, c *postCall) error {
		if s.Site == nil {
			return fault.New(fault.Unsupported, "This server has no pages of users.")
		}
		return plainPost(handle)(s, c)
	}
}

func (s postAPI) pages(c *postCall) error {
	list, err := s.Site.Pages(c.ctx(), c.user)
	if err != nil {
		return err
	}
	out := struct {
		Pages []client.Page `json:"pages"`
	}{Pages: make([]client.Page, len(list))}
	for i, p := range list {
		out.Pages[i] = form.Page(p)
	}
	return exchange.OK(c.w, out)
}

func (s postAPI) page(c *postCall) error {
	p, err := s.Site.Page(c.ctx(), c.user, c.r.PathValue("slug"))
	return exchange.Answer(c.w, form.Page(p), err)
}

// savePage creates a page, or replaces the page with the slug in the path.
func (s postAPI) savePage(c *postCall) error {
	var in client.Page
	if err := exchange.ReadJSONTo(c.w, c.r, &in, maxPost); err != nil {
		return err
	}
	slug := c.r.PathValue("slug")
	was := slug
	if _, err := s.Site.Page(c.ctx(), c.user, slug); fault.CodeOf(err) == fault.NotFound {
		was = ""
	} else if err != nil {
		return err
	}
	p, err := s.Site.SavePage(c.ctx(), author.Page{User: c.user, Slug: cmp.Or(in.Slug, slug), Title: in.Title, Source: in.Source, Place: in.Place, InMenu: in.InMenu}, was)
	return exchange.Answer(c.w, form.Page(p), err)
}

func (s postAPI) deletePage(c *postCall) error {
	p, err := s.Site.Page(c.ctx(), c.user, c.r.PathValue("slug"))
	if err == nil {
		err = s.Site.DeletePage(c.ctx(), c.user, p.Slug)
	}
	return exchange.Answer(c.w, form.Page(p), err)
}

func (s postAPI) style(c *postCall) error {
	w, err := s.Posts.Writer(c.ctx(), c.user)
	if err != nil {
		return err
	}
	return s.answerStyle(c, w)
}

func (s postAPI) answerStyle(c *postCall, w author.Writer) error {
	source, err := s.Site.StyleSource(c.ctx(), c.user, w.Look())
	return exchange.Answer(c.w, client.Style{CSS: source}, err)
}

func (s postAPI) setStyle(c *postCall) error {
	var in client.Style
	if err := exchange.ReadJSONTo(c.w, c.r, &in, maxPost); err != nil {
		return err
	}
	w, err := s.Posts.Writer(c.ctx(), c.user)
	if err == nil {
		w, err = s.Site.SetLook(c.ctx(), c.user, w.Look(), in.CSS, false, c.via())
	}
	if err != nil {
		return err
	}
	return s.answerStyle(c, w)
}
