package accountui

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"cloudburst/feed"
	"cloudburst/internal/account"
	"cloudburst/internal/advice"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/text"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

type feedsView struct {
	shell.View
	Message string
	Base    string
	Cloud   string // <cloud> element that points to this server
	Feeds   []hosted
	Chose   string // the feed selected in the upload form
	Wrong   string // error of an uploaded file
	Hints   hintsView
}

// hosted is a feed as its author sees it.
type hosted struct {
	Name, Label string
	Address     string // URL of the saved document
	Path        string // path of the saved document
	Open        bool   // the feed is public
	Saved       bool
	author.Feed
	SavedAt   shell.Moment
	Formats   []shell.FormatLink
	Findings  []finding
	MovedHref string
	CanAdd    bool   // the document names neither a cloud nor a hub, and the server can add its own cloud
	Notice    string // further notes for the author

	To, ToError string // new URL of the feed as typed, and its error message
}

// finding is a piece of advice about the document.
type finding struct {
	advice.Finding
	Where string
}

// maxFindings is the maximum number of findings on a page.
const maxFindings = 30

func feedLabels() []shell.NamedValue {
	return []shell.NamedValue{{Name: author.Public, Value: "Public feed"}, {Name: author.Private, Value: "Private feed"}}
}

// feedsPage shows the user's feeds, and the forms to save, move and end them.
func (s *Pages) feedsPage(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	return s.showFeeds(rw, r, session, http.StatusOK, feedsView{}, hosted{})
}

// showFeeds adds the common data of the page to v. failed has the values and the error of the form
// of one feed.
func (s *Pages) showFeeds(rw http.ResponseWriter, r *http.Request, session account.Session, status int, v feedsView, failed hosted) error {
	v.View, v.Message, v.Base = s.NewView(r, "Your feeds"), doneMessage(r), s.BaseURL(r)
	v.Cloud = s.CloudElement(v.Base)
	v.Heading = v.Title
	if s.Profiles != nil && v.Hints.Periods == nil {
		w, err := s.Profiles.Writer(r.Context(), session.User)
		if err != nil {
			return err
		}
		v.Hints = hintsViewOf(w.Hints)
	}
	for _, label := range feedLabels() {
		h, err := s.hosted(r, session.User, label)
		if err != nil {
			return err
		}
		if failed.Name == h.Name {
			h.To, h.ToError = failed.To, failed.ToError
		}
		v.Feeds = append(v.Feeds, h)
	}
	return s.Render(rw, r, status, "feeds", v)
}

// hosted collects the data of one feed. It returns no error for a feed that was never saved.
func (s *Pages) hosted(r *http.Request, user string, label shell.NamedValue) (hosted, error) {
	h := hosted{Name: label.Name, Label: label.Value, Open: label.Name == author.Public}
	h.Path = "/" + user + "/" + label.Name + ".xml"
	if !h.Open {
		h.Path = "/" + user + "/private/rss.xml"
	}
	h.Address = s.BaseURL(r) + h.Path
	f, doc, err := s.Authors.Document(r.Context(), user, label.Name)
	if fault.CodeOf(err) == fault.NotFound {
		return h, nil
	}
	if err != nil {
		return h, err
	}
	h.Saved, h.Feed, h.SavedAt = f.Version > 0, f, shell.NewMoment(s.CurrentTime(), f.SavedAt)
	if shell.IsWebURL(f.MovedTo) {
		h.MovedHref = f.MovedTo
	}
	h.MovedTo = shell.CleanText(f.MovedTo, 2048)
	if h.Open && f.MovedTo == "" && !f.Gone {
		h.Formats = shell.FeedFormats(user)
	}
	leave, err := s.WaitForReading(r.Context())
	if err != nil {
		return h, err
	}
	defer leave()
	var pushless bool
	h.Findings, pushless = findings(doc, f, h.Address, s.CurrentTime())
	if h.CanAdd = h.Open && pushless && f.MovedTo == "" && !f.Gone && !f.AddCloud && f.Push != author.PushNoPlace; !h.CanAdd {
		h.Notice = f.Warning()
	}
	return h, nil
}

// findings lists advice for the author about the document. pushless reports that the document
// names neither a cloud nor a hub; the page has a separate section for this case.
func findings(doc []byte, f author.Feed, address string, now time.Time) (all []finding, pushless bool) {
	parsed, err := feed.ParseBytes(doc, &feed.Options{URL: address, KeepRelative: true, Header: http.Header{"Content-Type": {f.Type}}})
	if err != nil {
		return nil, false // cannot happen: this server saves only feeds
	}
	for _, a := range advice.On(parsed, &advice.Delivery{Document: doc, URL: address, Now: now}) {
		if a.Rule == "push-missing" {
			pushless = true
			continue
		}
		if len(all) == maxFindings || a.Rule == "self-missing" && f.AddCloud && f.Push != author.PushNoPlace { // no advice about the self link, because the server adds it together with its cloud
			continue
		}
		one := finding{Finding: a}
		if len(a.Places) > 0 {
			one.Where = shell.CleanText(a.Places[0].Path, 200)
			if line := a.Places[0].Line; line > 0 {
				one.Where = strings.TrimSpace("line " + shell.FormatCount(line) + " " + one.Where)
			}
		}
		one.Problem, one.Fix = shell.CleanText(a.Problem, 400), shell.CleanText(a.Fix, 400)
		all = append(all, one)
	}
	return all, pushless
}

// doSave saves an uploaded file.
func (s *Pages) doSave(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	// If the deadlines cannot be set, the server's defaults apply.
	rc := http.NewResponseController(rw)
	_, _ = rc.SetReadDeadline(time.Now().Add(shell.UploadTimeout)), rc.SetWriteDeadline(time.Now().Add(shell.FormTimeout))
	name, doc, kind, err := readUpload(rw, r)
	if err == nil {
		_, err = s.Authors.Put(r.Context(), author.Document{User: session.User, Name: name, Bytes: doc, Type: kind, Via: "page"})
	}
	if err != nil {
		return s.showFeeds(rw, r, session, s.Refused(rw, r, err), feedsView{Chose: name, Wrong: shell.Reason(err)}, hosted{})
	}
	return shell.Redirect(rw, r, "/account/feed?done=saved")
}

// readUpload reads the upload form: the name of the feed, the file, and its type guessed from its
// name.
func readUpload(rw http.ResponseWriter, r *http.Request) (name string, doc []byte, kind string, err error) {
	tooLarge := fault.New(fault.Invalid, "The file is larger than %s, the maximum size of a feed. Nothing was saved.", text.SizeWords(author.MaxDocument))
	broken := func(err error) error {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return tooLarge
		}
		return fault.Wrap(fault.Invalid, err, "The form could not be read. Choose the file and send it again.")
	}
	r.Body = http.MaxBytesReader(rw, r.Body, author.MaxDocument+shell.FormOverhead)
	parts, err := r.MultipartReader()
	if err != nil {
		return "", nil, "", broken(err)
	}
	for range 10 {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			if len(doc) == 0 {
				return name, nil, "", fault.New(fault.Invalid, "No file was chosen, or the file is empty. Choose a feed file.")
			}
			return name, doc, kind, nil
		}
		if err != nil {
			return name, nil, "", broken(err)
		}
		b, err := io.ReadAll(io.LimitReader(part, author.MaxDocument+1))
		switch {
		case err != nil:
			return name, nil, "", broken(err)
		case len(b) > author.MaxDocument:
			return name, nil, "", tooLarge
		case part.FormName() == "name":
			name = shell.CleanText(string(b), 32)
		case part.FormName() == "feed" && part.FileName() != "":
			doc, kind = b, uploadType(part.FileName(), b)
		}
	}
	return name, nil, "", broken(errors.New("web: more than 10 parts"))
}

// uploadType returns the type of a file. Browsers send no media type for feeds, so the
// extension of the name decides, then the first character of the document.
func uploadType(name string, doc []byte) string {
	if strings.EqualFold(path.Ext(name), ".json") || bytes.HasPrefix(bytes.TrimSpace(doc), []byte("{")) {
		return "application/feed+json"
	}
	return ""
}

// doCloud changes whether this server adds its <cloud> element to the user's feed.
func (s *Pages) doCloud(rw http.ResponseWriter, r *http.Request, session account.Session, form rsscloud.Form) error {
	on := shell.FormValue(form, "on") != ""
	if _, err := s.Authors.AddCloud(r.Context(), session.User, on); err != nil {
		return err
	}
	done := "no-cloud"
	if on {
		done = "cloud"
	}
	return shell.Redirect(rw, r, "/account/feed?done="+done)
}

// relocation is a form that moves, ends or restores a feed.
type relocation struct {
	heading, button, done string
	lines                 func(address, to string) []string
	do                    func(r *http.Request, user, name, to string) (author.Feed, error)
}

func (s *Pages) relocations(l *locale.Locale) map[string]relocation {
	return map[string]relocation{
		"move": {"Move this feed?", "Move the feed", "moved",
			func(address, to string) []string {
				return []string{l.Say("Requests for %s are then redirected (301) to %s. Readers store the new address and do not return here.", address, to),
					"Check the new address first: it should have the same items. You can undo this, but readers that were redirected once stay there."}
			},
			func(r *http.Request, user, name, to string) (author.Feed, error) {
				return s.Authors.Move(r.Context(), user, name, to)
			}},
		"for-now": {"Redirect this feed temporarily?", "Redirect", "lent",
			func(address, to string) []string {
				return []string{l.Say("Requests for %s are redirected (302) to %s. Readers keep their URL and request it here each time.", address, to),
					"You cannot save the feed here until you restore it."}
			},
			func(r *http.Request, user, name, to string) (author.Feed, error) {
				return s.Authors.MoveTemporarily(r.Context(), user, name, to)
			}},
		"end": {"End this feed?", "End the feed", "ended",
			func(address, _ string) []string {
				return []string{l.Say("Requests for %s then receive the status 410 (Gone). Readers stop polling, and most inform their users.", address),
					"The saved feed stays stored. You can undo this, but readers that removed the feed do not add it again automatically."}
			},
			func(r *http.Request, user, name, _ string) (author.Feed, error) {
				return s.Authors.End(r.Context(), user, name)
			}},
		"restore": {"Restore this feed?", "Restore", "restored",
			func(address, _ string) []string {
				return []string{l.Say("Requests for %s then receive the last saved version. Readers that were redirected elsewhere stay there.", address)}
			},
			func(r *http.Request, user, name, _ string) (author.Feed, error) {
				return s.Authors.Restore(r.Context(), user, name)
			}},
	}
}

// doPlace moves, ends or restores a feed after confirmation.
func (s *Pages) doPlace(rw http.ResponseWriter, r *http.Request, session account.Session, form rsscloud.Form) error {
	what := path.Base(r.URL.Path)
	p := s.relocations(s.Locale(r))[what]
	name, to := shell.FormValue(form, "name"), strings.TrimSpace(shell.FormValue(form, "to"))
	h := hosted{Name: name, To: shell.CleanText(to, 2048)}
	if what == "move" || what == "for-now" {
		if !shell.IsWebURL(to) || len(to) > 2048 {
			h.ToError = "Enter the full new address of the feed; it begins with https:// or http://."
			return s.showFeeds(rw, r, session, http.StatusBadRequest, feedsView{}, h)
		}
	}
	if shell.FormValue(form, "sure") == "" {
		address := s.BaseURL(r) + author.FeedPath(session.User)
		if name == author.Private {
			address = "the addresses of your private feed"
		}
		return s.AskFirst(rw, r, p.heading, shell.Question{Lines: p.lines(address, h.To), Action: r.URL.Path,
			Fields: []shell.NamedValue{{Name: "name", Value: name}, {Name: "to", Value: to}}, Button: p.button, Back: "/account/feed"})
	}
	if _, err := p.do(r, session.User, name, to); err != nil {
		status, _ := shell.StatusOf(err)
		if status == http.StatusBadRequest && what == "move" {
			h.ToError = shell.Reason(err)
			return s.showFeeds(rw, r, session, status, feedsView{}, h)
		}
		return err
	}
	return shell.Redirect(rw, r, "/account/feed?done="+p.done)
}
