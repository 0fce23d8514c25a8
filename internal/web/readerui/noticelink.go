package readerui

import (
	"net/http"
	"net/url"

	"cloudburst/internal/river/forward"
	"cloudburst/internal/web/shell"
)

// EndNoticePath is where mail programs end forwarding by one click, without a cookie and from
// wherever they run: what may be done there, the token alone decides.
const EndForwardingPath = "/feeds/notices/end"

type noticeLinkView struct {
	shell.View
	Lines  []string
	Action string // of the form; "": there is nothing to decide
	Button string
	Field  string // sent along with it
}

// confirmNoticePage asks the recipient. Programs that only look at a link change nothing.
func (s *noticePages) confirmNoticePage(rw http.ResponseWriter, r *http.Request) {
	token := r.URL.Query().Get("token")
	l, err := s.River.ConfirmLink(r.Context(), token)
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	v := noticeLinkView{View: s.NewView(r, "Receive forwarded items?", "")}
	switch l.State {
	case forward.ForwardingConfirmed:
		v = s.confirmedNotice(r, l)
	case "":
		v.Lines = []string{"Nothing is to be forwarded to " + shell.CleanText(l.Target, 300) + " any more."}
	default:
		v.Lines = []string{senderOf(l) + " wants to forward what arrives in their feed reader on this server to " + shell.CleanText(l.Target, 300) + ".", "Each mail has a link that ends it."}
		v.Action, v.Button = linkAction("/feeds/notices/confirm", token), "Confirm"
	}
	s.showNoticeLink(rw, r, v)
}

func (s *noticePages) doConfirmNotice(rw http.ResponseWriter, r *http.Request) {
	l, err := s.River.ConfirmForwarding(r.Context(), r.URL.Query().Get("token"))
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	s.showNoticeLink(rw, r, s.confirmedNotice(r, l))
}

func (s *noticePages) confirmedNotice(r *http.Request, l forward.Link) noticeLinkView {
	v := noticeLinkView{View: s.NewView(r, "Confirmed", "")}
	v.Lines = []string{"New items that " + senderOf(l) + " forwards go to " + shell.CleanText(l.Target, 300) + " from now on. Each mail has a link that ends it."}
	return v
}

// endNoticePage asks whether forwarding ends; mail programs may open it by themselves.
func (s *noticePages) endNoticePage(rw http.ResponseWriter, r *http.Request) {
	token := r.URL.Query().Get("token")
	l, err := s.River.EndLink(r.Context(), token)
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	if l.State == forward.ForwardingEnded {
		s.showNoticeLink(rw, r, s.endedNotice(r, l, token))
		return
	}
	v := noticeLinkView{View: s.NewView(r, "Get no more of these mails?", ""), Action: linkAction(EndForwardingPath, token), Button: "Unsubscribe"}
	v.Lines = []string{"Nothing of " + senderOf(l) + " will be forwarded to " + shell.CleanText(l.Target, 300) + " any more."}
	s.showNoticeLink(rw, r, v)
}

// doEndNotice ends it, at one click, or takes that back.
//
// spec:cloudburst#notice-unsubscribe
func (s *noticePages) doEndNotice(rw http.ResponseWriter, r *http.Request) {
	token := r.URL.Query().Get("token")
	// Mail programs send a form of either kind; a field that cannot be read is none.
	r.Body = http.MaxBytesReader(rw, r.Body, shell.FormOverhead)
	if r.PostFormValue("allow") == "yes" {
		l, err := s.River.AllowForwarding(r.Context(), token)
		if err != nil {
			s.Fail(rw, r, err)
			return
		}
		s.showNoticeLink(rw, r, s.confirmedNotice(r, l))
		return
	}
	l, err := s.River.EndForwarding(r.Context(), token)
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	s.showNoticeLink(rw, r, s.endedNotice(r, l, token))
}

func (s *noticePages) endedNotice(r *http.Request, l forward.Link, token string) noticeLinkView {
	v := noticeLinkView{View: s.NewView(r, "Unsubscribed", ""), Action: linkAction(EndForwardingPath, token), Button: "Allow again", Field: "allow"}
	v.Lines = []string{"Nothing of " + senderOf(l) + " is forwarded to " + shell.CleanText(l.Target, 300) + " any more.", "It begins again only if you allow it here."}
	return v
}

func linkAction(path, token string) string { return path + "?" + url.Values{"token": {token}}.Encode() }

// senderOf names the person whose items are forwarded.
func senderOf(l forward.Link) string { return shell.CleanText(l.Sender, 100) }

func (s *noticePages) showNoticeLink(rw http.ResponseWriter, r *http.Request, v noticeLinkView) {
	rw.Header().Set("Cache-Control", "no-store")
	rw.Header().Set("Referrer-Policy", "no-referrer")
	s.Render(rw, r, http.StatusOK, "noticelink", v)
}
