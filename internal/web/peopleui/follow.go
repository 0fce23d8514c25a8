package peopleui

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/webfinger"
)

type followView struct {
	shell.View
	Author, Path, Feed, Account string
	MayFollow                   bool   // the visitor is signed in on this server
	Server, Wrong               string // the visitor's server as typed, and the error of this input
	Host, Continue              string // host of the visitor's server, and URL of the form there for this author
	ByMail                      bool   // the author sends posts by e-mail
	Address, AddressWrong       string
	Digest                      string // how often mails arrive, as the visitor chose
	Asked                       bool   // the visitor sent the form; an unconfirmed address receives a mail
}

// followPage links to the form on the visitor's own server. It does not redirect, so that a link to this
// page cannot send people to another site.
func (s *Pages) followPage(rw http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	user := q.Get("user")
	f, err := s.Hosted(r.Context(), user)
	if err == nil && (f.Version == 0 || f.Gone || f.MovedTo != "") {
		err = fault.New(fault.NotFound, "There is no author with this name.")
	}
	if fault.CodeOf(err) == fault.NotFound && err != nil {
		return s.NotFound(rw, r)
	}
	if err != nil {
		return err
	}
	v, err := s.followView(r, user)
	if err != nil {
		return err
	}
	v.Server = shell.CleanText(strings.TrimSpace(q.Get("server")), 300)
	v.Asked = q.Get("done") == "asked"
	status := http.StatusOK
	if v.Server != "" {
		origin, host, ok := serverOf(v.Server)
		if ok {
			v.Host, v.Continue = host, origin+"/feeds/add?url="+url.QueryEscape(s.BaseURL(r)+v.Path)
		} else {
			v.Wrong, status = v.Say("“%s” is not the name of a server: it should be like example.org.", v.Server), http.StatusBadRequest
		}
	}
	return s.Render(rw, r, status, "peoplefollow", v)
}

// followView returns the data of the page without the values that the visitor entered.
func (s *Pages) followView(r *http.Request, user string) (v followView, err error) {
	base := s.BaseURL(r)
	v = followView{View: s.NewView(r, "Follow"), Author: user, Path: "/" + url.PathEscape(user) + "/", Feed: s.BaseURL(r) + author.FeedPath(user)}
	v.Heading = v.Say("Follow %s", user)
	v.MayFollow = v.User != "" && s.River != nil && v.User != user
	if u, err := url.Parse(base); err == nil {
		v.Account = "@" + user + "@" + u.Host
	}
	if s.Subscriptions != nil && s.River != nil {
		v.ByMail, err = s.Subscriptions.On(r.Context(), user)
	}
	return v, err
}

// doMail subscribes an e-mail address to the posts of an author. The subscription starts when the owner of
// the address confirms.
func (s *Pages) doMail(rw http.ResponseWriter, r *http.Request) error {
	form, err := shell.ReadForm(rw, r)
	if err != nil {
		return err
	}
	user, address := shell.FormValue(form, "user"), shell.CleanText(strings.TrimSpace(shell.FormValue(form, "address")), 300)
	digest := shell.CleanText(shell.FormValue(form, "digest"), 20)
	if _, err = s.Hosted(r.Context(), user); err == nil {
		err = s.Subscriptions.Subscribe(r.Context(), user, address, digest, s.CallerOf(r).Addr)
	}
	if fault.CodeOf(err) == fault.Invalid && err != nil {
		v, failed := s.followView(r, user)
		if failed != nil {
			return failed
		}
		v.Address, v.Digest, v.AddressWrong = address, digest, shell.Reason(err)
		return s.Render(rw, r, http.StatusBadRequest, "peoplefollow", v)
	}
	if err != nil {
		return err
	}
	return shell.Redirect(rw, r, Path+"/follow?"+url.Values{"user": {user}, "done": {"asked"}}.Encode()+"#s-mail")
}

// serverOf returns the origin and the host of a server as people type it: example.org,
// https://example.org/ or @me@example.org.
func serverOf(typed string) (origin, host string, ok bool) {
	if a, is := webfinger.ParseAccount(typed); is {
		typed = a.Host
	}
	if !strings.Contains(typed, "://") {
		typed = "https://" + typed
		if u, err := url.Parse(typed); err == nil && isLoopback(u.Hostname()) {
			u.Scheme = "http"
			typed = u.String()
		}
	}
	u, err := url.Parse(typed)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.Hostname() == "" || strings.ContainsAny(u.Host, " \t\"'<>\\%") {
		return "", "", false
	}
	if !strings.ContainsAny(u.Hostname(), ".:") && !strings.EqualFold(u.Hostname(), "localhost") {
		return "", "", false
	}
	return u.Scheme + "://" + u.Host, u.Host, true
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
