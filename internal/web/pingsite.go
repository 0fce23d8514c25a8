package web

import (
	"net/http"
	"net/url"
)

// pingSiteView is the page of the form by which a site says that it changed.
type pingSiteView struct {
	view
	Text string
	Good bool
	Asks bool // nothing was sent yet
	Site pingSiteForm
}

// pingSiteForm is the form as it was filled in.
type pingSiteForm struct{ Name, URL, Page, Feed string }

// pingSite is the page of a form with which a site says that it changed.
func (s *hubPages) pingSite(rw http.ResponseWriter, r *http.Request, status int, title, text string, form url.Values) {
	v := pingSiteView{view: s.view(r, clean(title, 200), ""), Text: sentence(text), Good: status < 300, Asks: len(form) == 0}
	v.Site = pingSiteForm{clean(form.Get("name"), 1024), clean(form.Get("url"), 2048), clean(form.Get("changesURL"), 2048), clean(form.Get("rssUrl"), 2048)}
	s.render(rw, r, status, "pingsite", v)
}
