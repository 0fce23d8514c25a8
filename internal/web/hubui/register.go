package hubui

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"cloudburst/internal/hub"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

// registerForm holds the values of the pleaseNotify form.
type registerForm struct {
	Domain, Port, Path, Protocol, Procedure, Feeds string

	DomainError, PortError, PathError, ProtocolError, ProcedureError, FeedsError string

	Caller string // IP address of the client; notifications go there if the form names no domain
}

func emptyRegistration() registerForm {
	return registerForm{Port: "80", Path: "/feedupdated", Protocol: rsscloud.HTTPPost}
}

type choice struct{ Value, Label string }

// Protocols lists the choices of the form.
func (registerForm) Protocols() []choice {
	return []choice{
		{rsscloud.HTTPPost, "http-post: a form"},
		{rsscloud.HTTPSPost, "https-post: a form, over TLS"},
		{rsscloud.XMLRPC, "xml-rpc: a procedure call"},
		{rsscloud.SOAP, "soap: a SOAP call"},
	}
}

func addrText(a netip.Addr) string {
	host, err := rsscloud.HostOf(a)
	if err != nil {
		return ""
	}
	return host
}

func (s *Pages) doRegister(rw http.ResponseWriter, r *http.Request) error {
	form, err := shell.ReadForm(rw, r)
	if err != nil {
		return err
	}
	f, reg, ok := registration(form, s.CallerAddr(r))
	if !ok {
		return s.showPingError(rw, r, outcomeView{Register: &f})
	}
	f.Caller = addrText(reg.Source)
	res, err := s.Hub.Register(r.Context(), reg)
	if err != nil {
		return s.showRequestError(rw, r, err, "Nothing was registered", outcomeView{Register: &f})
	}
	return s.Render(rw, r, registeredStatus(res), "outcome", s.registered(r, res, f))
}

func registeredStatus(res hub.Registered) int {
	if len(res.Accepted) == 0 {
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}

func (s *Pages) registered(r *http.Request, res hub.Registered, f registerForm) outcomeView {
	v := outcomeView{View: s.wideView(r, "Registered"), Good: len(res.Accepted) > 0, Register: &f}
	for _, feed := range res.Accepted {
		v.Accepted = append(v.Accepted, NewFeedLink(feed))
	}
	for _, no := range res.Refused {
		v.Refused = append(v.Refused, refusal{shell.CleanText(no.Feed, 300), shell.Sentence(no.Reason)})
	}
	switch {
	case !v.Good:
		v.Title, v.Heading = v.Say("Nothing was registered"), v.Say("Nothing was registered")
	case len(v.Refused) > 0:
		v.Title, v.Heading = v.Say("Registered in part"), v.Say("Registered in part")
	}
	if v.Good {
		v.Expires = v.When(res.Expires)
	}
	return v
}

// registration reads the form like the pleaseNotify endpoint, but checks every field, so that the
// page can show all errors at once. If ok is false, the form has the errors.
//
// spec:rsscloud-2009#please-notify-fields
func registration(form rsscloud.Form, from netip.Addr) (registerForm, hub.Registration, bool) {
	f := registerForm{Caller: addrText(from)}
	for name, p := range map[string][2]*string{
		"domain": {&f.Domain, &f.DomainError}, "port": {&f.Port, &f.PortError}, "path": {&f.Path, &f.PathError},
		"protocol": {&f.Protocol, &f.ProtocolError}, "notifyProcedure": {&f.Procedure, &f.ProcedureError},
	} {
		value, _, err := form.Get(name)
		*p[0] = shell.CleanText(value, 2048)
		if err != nil {
			*p[1] = shell.ErrorText(err)
		}
	}
	reg := hub.Registration{Protocol: f.Protocol, Procedure: f.Procedure, Challenge: f.Domain != "", Source: from, Via: "web"}
	reg.Feeds = f.readFeeds(form)
	port, err := strconv.Atoi(f.Port)
	if err != nil || port < 1 || port > 65535 {
		f.PortError = "Write the port that your program listens on, a number from 1 to 65535."
	}
	if f.Path == "" {
		f.PathError = "Write the path of your handler, for example /feedupdated."
	}
	if !rsscloud.ValidProtocol(f.Protocol) {
		f.ProtocolError = "Choose one of the four protocols."
	}
	if err := rsscloud.CheckProcedure(f.Protocol, f.Procedure); err != nil && f.ProcedureError == "" {
		f.ProcedureError = shell.ErrorText(err)
	}
	ask := rsscloud.Registration{Port: port, Path: f.Path, Protocol: f.Protocol, Domain: f.Domain}
	// The check of the port field has already reported an invalid port.
	if f.PortError != "" {
		ask.Port = 80
	}
	if f.ProtocolError != "" {
		ask.Protocol = rsscloud.HTTPPost
	}
	reg.Callback, err = ask.Callback(from)
	f.setError(err)
	return f, reg, f.ok()
}

// setError puts the error of a callback next to the field that caused it.
func (f *registerForm) setError(err error) {
	if err == nil {
		return
	}
	if field, ok := errors.AsType[*rsscloud.FieldError](err); ok && field.Field == "path" {
		f.PathError = field.Msg
		return
	}
	f.DomainError = shell.ErrorText(err)
}

func (f *registerForm) ok() bool {
	return f.DomainError+f.PortError+f.PathError+f.ProtocolError+f.ProcedureError+f.FeedsError == ""
}

// readFeeds reads url1, url2 and so on; each can hold several URLs, one per line.
//
// spec:rsscloud-2009#url-numbering
func (f *registerForm) readFeeds(form rsscloud.Form) []string {
	given, err := form.URLs()
	if err != nil {
		f.FeedsError = "Write the address of at least one feed."
		if len(form) > rsscloud.MaxURLs {
			f.FeedsError = shell.ErrorText(err)
		}
		return nil
	}
	var feeds []string
	for _, value := range given {
		feeds = append(feeds, strings.Fields(value)...)
	}
	f.Feeds = shell.CleanText(strings.Join(feeds, " "), rsscloud.MaxForm)
	f.Feeds = strings.ReplaceAll(f.Feeds, " ", "\n")
	if len(feeds) > rsscloud.MaxURLs {
		f.FeedsError = fmt.Sprintf("These are %d feeds; register at most %d at once.", len(feeds), rsscloud.MaxURLs)
		return nil
	}
	for _, feed := range feeds {
		if err := rsscloud.CheckFeedURL(feed); err != nil {
			f.FeedsError = shell.ErrorText(err)
			return nil
		}
	}
	return feeds
}
