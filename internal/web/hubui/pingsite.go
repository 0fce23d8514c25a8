package hubui

import (
	"net/http"
	"net/url"

	"cloudburst/internal/web/shell"
)

// pingSiteView is the page of the form that notifies the hub of a changed site.
type pingSiteView struct {
	shell.View
	Text string
	Good bool
	Asks bool // the user has not sent the form yet
	Site pingSiteForm
}

// pingSiteForm holds the values of the form.
type pingSiteForm struct{ Name, URL, Page, Feed string }

// ServePingSite writes the page of the form that notifies the hub of a changed site.
func (s *Pages) ServePingSite(rw http.ResponseWriter, r *http.Request, status int, title, text string, form url.Values) {
	v := pingSiteView{View: s.wideView(r, shell.CleanText(title, 200)), Text: shell.Sentence(text), Good: status < 300, Asks: len(form) == 0}
	v.Site = pingSiteForm{shell.CleanText(form.Get("name"), 1024), shell.CleanText(form.Get("url"), 2048), shell.CleanText(form.Get("changesURL"), 2048), shell.CleanText(form.Get("rssUrl"), 2048)}
	s.Render(rw, r, status, "pingsite", v)
}
