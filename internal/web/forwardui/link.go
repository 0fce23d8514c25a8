package forwardui

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"

	"cloudburst/internal/river/forward"
	"cloudburst/internal/web/shell"
)

// EndPath is the path for the one-click unsubscribe of mail programs. Mail programs send no cookie
// and no Origin of this server, so the token alone authorizes the request.
const EndPath = "/feeds/notices/end"

type linkView struct {
	shell.View
	Lines  []string
	Action string // path of the form; "": the page has no form
	Button string
	Field  string // name of a hidden field of the form with the value "yes"; "": none
	// Digests are the choices of how often mails arrive, for a form with the same Action; nil: no form.
	Digests []digestChoice
}

// digestChoice is a choice of how often mails arrive.
type digestChoice struct {
	Value, Text string
	Chosen      bool
}

func digestChoices(chosen string) []digestChoice {
	all := []digestChoice{{Value: forward.DigestNone, Text: "At once"}, {Value: forward.DigestDaily, Text: "Once a day"}, {Value: forward.DigestWeekly, Text: "Once a week, on Monday"}}
	for i := range all {
		all[i].Chosen = all[i].Value == chosen
	}
	return all
}

// digestLine returns a sentence about how often mails arrive. It returns "" if each item is sent at once.
func digestLine(v shell.View, digest string) string {
	switch digest {
	case forward.DigestDaily:
		return v.Say("One mail a day lists them.")
	case forward.DigestWeekly:
		return v.Say("One mail a week lists them, on Monday.")
	}
	return ""
}

// confirmPage asks the recipient to confirm. A GET request by a mail scanner changes nothing.
func (s *Pages) confirmPage(rw http.ResponseWriter, r *http.Request) error {
	token := r.URL.Query().Get("token")
	l, err := s.River.ConfirmLink(r.Context(), token)
	if err != nil {
		return err
	}
	v := linkView{View: s.NewView(r, "Receive forwarded items?")}
	switch l.State {
	case forward.ForwardingConfirmed:
		v = s.confirmed(r, l)
	case "":
		v.Lines = []string{v.Say("You declined: no items will be forwarded to %s any more.", shell.CleanText(l.Target, 300))}
	default:
		v.Lines = withoutEmpty(v.Say("New items of %s on this server will be sent to %s.", senderOf(l), shell.CleanText(l.Target, 300)), digestLine(v.View, l.Digest), v.Say("Each mail has a link to change how often mails arrive, and to end them."))
		v.Action, v.Button = linkAction("/feeds/notices/confirm", token), "Confirm"
	}
	return s.showLink(rw, r, v)
}

func (s *Pages) doConfirm(rw http.ResponseWriter, r *http.Request) error {
	l, err := s.River.ConfirmForwarding(r.Context(), r.URL.Query().Get("token"))
	if err != nil {
		return err
	}
	return s.showLink(rw, r, s.confirmed(r, l))
}

func (s *Pages) confirmed(r *http.Request, l forward.Link) linkView {
	v := linkView{View: s.NewView(r, "Confirmed")}
	v.Lines = withoutEmpty(v.Say("New items that %s forwards go to %s from now on.", senderOf(l), shell.CleanText(l.Target, 300)), digestLine(v.View, l.Digest), v.Say("Each mail has a link to change how often mails arrive, and to end them."))
	return v
}

func withoutEmpty(lines ...string) []string {
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

// endPage asks whether to end forwarding or how often mails should arrive. A GET request changes
// nothing, because mail programs may open links automatically.
func (s *Pages) endPage(rw http.ResponseWriter, r *http.Request) error {
	token := r.URL.Query().Get("token")
	l, err := s.River.EndLink(r.Context(), token)
	if err != nil {
		return err
	}
	if l.State == forward.ForwardingEnded {
		return s.showLink(rw, r, s.ended(r, l, token))
	}
	v := linkView{View: s.NewView(r, "Unsubscribe from these mails?"), Action: linkAction(EndPath, token), Button: "Unsubscribe"}
	v.Lines = []string{v.Say("No items of %s will be forwarded to %s any more.", senderOf(l), shell.CleanText(l.Target, 300))}
	if l.State == forward.ForwardingConfirmed {
		v.Digests = digestChoices(l.Digest)
	}
	return s.showLink(rw, r, v)
}

// doEnd ends forwarding with one click, resumes it, or changes how often mails arrive.
//
// spec:cloudburst#forwarding-unsubscribe
func (s *Pages) doEnd(rw http.ResponseWriter, r *http.Request) error {
	token := r.URL.Query().Get("token")
	// Mail programs send a form in either encoding. A field that cannot be read counts as missing.
	r.Body = http.MaxBytesReader(rw, r.Body, shell.FormOverhead)
	if r.PostFormValue("allow") == "yes" {
		l, err := s.River.AllowForwarding(r.Context(), token)
		if err != nil {
			return err
		}
		return s.showLink(rw, r, s.confirmed(r, l))
	}
	if r.PostForm.Has("digest") {
		return s.doChoose(rw, r, token)
	}
	l, err := s.River.EndForwarding(r.Context(), token)
	if err != nil {
		return err
	}
	return s.showLink(rw, r, s.ended(r, l, token))
}

// doChoose changes how often the mails of a link arrive.
func (s *Pages) doChoose(rw http.ResponseWriter, r *http.Request, token string) error {
	l, err := s.River.ChooseDigest(r.Context(), token, r.PostFormValue("digest"))
	if err != nil {
		return err
	}
	if l.State == forward.ForwardingEnded {
		return s.showLink(rw, r, s.ended(r, l, token))
	}
	v := linkView{View: s.NewView(r, "Saved")}
	v.Lines = withoutEmpty(v.Say("New items of %s are sent to %s.", senderOf(l), shell.CleanText(l.Target, 300)), cmp.Or(digestLine(v.View, l.Digest), v.Say("Each mail is sent at once.")))
	return s.showLink(rw, r, v)
}

func (s *Pages) ended(r *http.Request, l forward.Link, token string) linkView {
	v := linkView{View: s.NewView(r, "Unsubscribed"), Action: linkAction(EndPath, token), Button: "Allow again", Field: "allow"}
	v.Lines = []string{v.Say("No items of %s are forwarded to %s any more.", senderOf(l), shell.CleanText(l.Target, 300)), v.Say("Forwarding starts again only if you allow it here.")}
	return v
}

func linkAction(path, token string) string {
	return path + "?" + url.Values{"token": {token}}.Encode()
}

// senderOf returns the name of the user whose items are forwarded.
func senderOf(l forward.Link) string { return shell.CleanText(l.Sender, 100) }

func (s *Pages) showLink(rw http.ResponseWriter, r *http.Request, v linkView) error {
	rw.Header().Set("Cache-Control", "no-store")
	rw.Header().Set("Referrer-Policy", "no-referrer")
	return s.Render(rw, r, http.StatusOK, "noticelink", v)
}
