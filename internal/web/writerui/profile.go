package writerui

import (
	"net/http"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/announce"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/shell"
)

type profileView struct {
	shell.View
	Message     string
	Profile     author.Profile
	Tinted      bool   // the author's page has its own colour
	Links       string // title and URL of each link, one link per line
	PingTargets string // one ping target per line
	Files       bool
	Kinds       []string // kinds of ping targets

	NameWrong, EmailWrong, TitleWrong, BlurbWrong, LinkWrong, LanguageWrong, AccentWrong, AvatarWrong, HeaderWrong, LinksWrong, PingTargetsError, AllWrong string
}

// profilePage shows the profile of the user.
func (s *Pages) profilePage(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	w, err := s.Posts.Writer(r.Context(), session.User)
	if err != nil {
		return err
	}
	v := profileView{Profile: w.Profile, Tinted: w.Accent != "", PingTargets: strings.Join(w.PingTargets, "\n"), Links: linkText(w.Page.Links)}
	if r.URL.Query().Get("done") == "saved" {
		v.Message = "Saved. Your page and your feed are updated."
	}
	return s.showProfile(rw, r, http.StatusOK, v)
}

func (s *Pages) showProfile(rw http.ResponseWriter, r *http.Request, status int, v profileView) error {
	v.View, v.Files, v.Kinds = s.NewView(r, "Your page"), s.Files != nil, announce.Kinds()
	if v.Profile.Accent == "" {
		v.Profile.Accent = "#0a6496"
	}
	return s.Render(rw, r, status, "profile", v)
}

// doProfile changes the profile.
func (s *Pages) doProfile(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	got, err := s.readSent(rw, r, session.User)
	if err != nil {
		return err
	}
	one := func(name string, limit int) string {
		return shell.CleanText(strings.TrimSpace(got.fields.Get(name)), limit)
	}
	v := profileView{Tinted: got.fields.Get("tinted") != "", PingTargets: proseOf(got.fields.Get("sinks")), AvatarWrong: got.wrong}
	v.Profile = author.Profile{
		Name: one("name", 2000), Email: one("email", 400), Title: one("title", 2000), Blurb: proseOf(strings.TrimSpace(got.fields.Get("blurb"))), Link: one("link", 4096), Language: one("language", 40),
		Accent: one("accent", 40), Avatar: one("avatar", 4096), Theme: one("theme", 20),
	}
	if !v.Tinted {
		v.Profile.Accent = ""
	}
	v.Links = proseOf(got.fields.Get("links"))
	v.Profile.Page = author.PageSettings{Header: one("header", 4096), Links: linkLines(v.Links)}
	switch {
	case len(got.files) > 0 && !strings.HasPrefix(got.files[0].Type, "image/"):
		v.AvatarWrong = "That file is not an image: it is " + shell.CleanText(got.files[0].Type, 60) + "."
	case len(got.files) > 0:
		v.Profile.Avatar = s.Files.Path(got.files[0])
	case got.fields.Get("avatar-drop") != "":
		v.Profile.Avatar = ""
	}
	switch {
	case got.header != nil && !strings.HasPrefix(got.header.Type, "image/"):
		v.HeaderWrong = "That file is not an image: it is " + shell.CleanText(got.header.Type, 60) + "."
	case got.header != nil:
		v.Profile.Page.Header = s.Files.Path(*got.header)
	case got.fields.Get("header-drop") != "":
		v.Profile.Page.Header = ""
	}
	v.Profile.PingTargets, v.PingTargetsError = pingTargetLines(v.PingTargets)
	if v.AvatarWrong+v.HeaderWrong+v.PingTargetsError != "" {
		return s.showProfile(rw, r, http.StatusBadRequest, v)
	}
	header := v.Profile.Page.Header
	_, err = s.Posts.SetProfile(r.Context(), session.User, func(p *author.Profile) error {
		links := v.Profile.Page.Links
		v.Profile.Hints, v.Profile.Page = p.Hints, p.Page
		v.Profile.Page.Links, v.Profile.Page.Header = links, header
		*p = v.Profile
		return nil
	}, "write")
	if err != nil {
		status := s.Refused(rw, r, err)
		v.setError(err)
		return s.showProfile(rw, r, status, v)
	}
	return shell.Redirect(rw, r, "/account/author?done=saved")
}

// setError puts the error next to its field.
func (v *profileView) setError(err error) {
	at := &v.AllWrong
	if fault.CodeOf(err) == fault.Invalid {
		switch topField(err) {
		case "name":
			at = &v.NameWrong
		case "email":
			at = &v.EmailWrong
		case "title":
			at = &v.TitleWrong
		case "blurb":
			at = &v.BlurbWrong
		case "link":
			at = &v.LinkWrong
		case "language":
			at = &v.LanguageWrong
		case "accent":
			at = &v.AccentWrong
		case "avatar":
			at = &v.AvatarWrong
		case "header":
			at = &v.HeaderWrong
		case "links":
			at = &v.LinksWrong
		case "sinks":
			at = &v.PingTargetsError
		}
	}
	*at = shell.Reason(err)
}

// pingTargetLines checks the ping targets of an author, one per line.
func pingTargetLines(text string) (all []string, wrong string) {
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		target, err := announce.ParseTarget(line)
		if err != nil {
			return nil, shell.Reason(err)
		}
		all = append(all, target.String())
	}
	return all, ""
}

// linkLines parses links, one per line: a title and a URL, or a URL only.
func linkLines(text string) (all []author.Link) {
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		last := len(words) - 1
		all = append(all, author.Link{Title: strings.Join(words[:last], " "), URL: words[last]})
	}
	return all
}

// linkText is the inverse of linkLines.
func linkText(list []author.Link) string {
	lines := make([]string, len(list))
	for i, l := range list {
		lines[i] = strings.TrimSpace(l.Title + " " + l.URL)
	}
	return strings.Join(lines, "\n")
}
