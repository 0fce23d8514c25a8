package hubui

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

// pingForm holds the values of the form that notifies the hub of a changed feed.
type pingForm struct{ URL, URLError string }

// frontView is the front page.
type frontView struct {
	shell.View
	Changes []changeLine // the newest changes
	Stream  string       // URL of the stream of later changes; "": the page is not live
	Reads   bool         // the server has a feed reader
	First   bool         // no account exists yet
}

// changesOnFront is the number of changes on the front page.
const changesOnFront = 5

// hubView is the page of the hub: the elements that an author adds to a feed, and the forms to ping and
// to subscribe.
type hubView struct {
	shell.View
	Cloud    string // <cloud> element for a feed
	Base     string // public URL without a trailing slash
	With     string // the protocol whose elements are shown: rsscloud or websub
	TestFeed string // URL of a feed to try; "": none
	Ping     pingForm
	Register registerForm
	Counts   hub.Counts
	Counted  bool
	Hosts    bool // this server can host feeds
	shell.RegistrationLife
}

// Values of the URL parameter with, which selects the protocol whose elements the page shows.
const (
	withRSSCloud = "rsscloud"
	withWebSub   = "websub"
)

// exampleFeed is the feed in examples.
const exampleFeed = "https://example.com/rss.xml"

// WebSubLinks returns the link elements that WebSub needs in an RSS feed.
func (v hubView) WebSubLinks() string {
	const atom = `<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="`
	return atom + `hub" href="` + v.Base + `/websub"/>` + "\n" + atom + `self" href="` + exampleFeed + `"/>`
}

// AtomLinks returns the link elements that WebSub needs in an Atom feed.
func (v hubView) AtomLinks() string {
	return `<link rel="hub" href="` + v.Base + `/websub"/>` + "\n" + `<link rel="self" href="` + exampleFeed + `"/>`
}

// JSONHubs returns the member "hubs" for a JSON Feed.
func (v hubView) JSONHubs() string {
	return `"hubs": [{"type": "WebSub", "url": "` + v.Base + `/websub"}]`
}

// PingCommand returns a command that pings, in the protocol of the page.
func (v hubView) PingCommand() string {
	if v.With == withWebSub {
		return "curl -d hub.mode=publish --data-urlencode hub.url=" + exampleFeed + " " + v.Base + "/websub"
	}
	return "curl --data-urlencode url=" + exampleFeed + " " + v.Base + "/rsscloud/ping"
}

// Listen returns a command that subscribes to the test feed.
func (v hubView) Listen() string { return "cloudburst listen " + v.TestFeed }

// front serves the front page; for a signed-in user it is the river. It redirects requests with
// url= to the hub's page, which has the ping form.
func (s *Pages) front(rw http.ResponseWriter, r *http.Request) error {
	if r.URL.Query().Has("url") {
		http.Redirect(rw, r, "/hub?"+r.URL.RawQuery, http.StatusMovedPermanently)
		return nil
	}
	if s.Shell.Reads && s.Visitor(r).User != "" {
		rw.Header().Set("Cache-Control", "no-store")
		return shell.Redirect(rw, r, "/river")
	}
	s.SetLinkHeader(rw, r)
	v := frontView{View: s.NewView(r, "Cloudburst"), Reads: s.Shell.Reads}
	v.Front, v.Heading, v.Script, v.Feed = true, v.Say("Read, write and share feeds the moment they change"), "log.js", s.TestFeed
	v.First = s.Accounts != nil && s.Accounts.SetupToken() != ""
	if list, err := s.Store.Changes(r.Context(), hub.ChangeQuery{Limit: changesOnFront}); err == nil { // the page works without the changes
		since := event.Cursor{}
		v.Changes = s.changeLines(r.Context(), list, v.Now)
		if len(list) > 0 {
			since = list[0].Cursor()
		}
		v.Stream = changesQuery{}.url("/changes/stream", "since", shell.FormatCursor(since)) + "&as=html"
	}
	return s.Render(rw, r, http.StatusOK, "front", v)
}

// hubPage serves authors and programs that use the hub. url= fills in the ping form.
func (s *Pages) hubPage(rw http.ResponseWriter, r *http.Request) error {
	v := hubView{View: s.wideView(r, "Hub"), Base: s.BaseURL(r), Register: emptyRegistration()}
	v.Ping.URL = shell.CleanText(r.URL.Query().Get("url"), 2048)
	v.Heading = v.Say("Notify subscribers the moment a feed changes")
	v.RegistrationLife = s.RegistrationLife(v.Lang)
	v.Cloud, v.With = s.CloudElement(v.Base), withRSSCloud
	if r.URL.Query().Get("with") == withWebSub {
		v.With = withWebSub
	}
	v.TestFeed, v.Feed = s.TestFeed, s.TestFeed
	v.Register.Caller = addrText(s.CallerAddr(r))
	c, err := s.Hub.Counts(r.Context())
	v.Counts, v.Counted = c, err == nil
	v.Hosts = s.Shell.Hosts && s.Accounts != nil && s.Accounts.SetupToken() == ""
	return s.Render(rw, r, http.StatusOK, "hub", v)
}

// outcomeView is the result of a form.
type outcomeView struct {
	shell.View
	Good     bool
	Lines    []string
	Accepted []FeedLink
	Refused  []refusal
	Expires  shell.Moment
	Feed     *FeedLink
	Ping     *pingForm
	Register *registerForm
}

type FeedLink struct{ URL, Href string }

type refusal struct{ URL, Reason string }

func NewFeedLink(feed string) FeedLink {
	return FeedLink{shell.CleanText(feed, 300), "/topics/" + strconv.FormatInt(hub.TopicID(feed), 10)}
}

func (s *Pages) doPing(rw http.ResponseWriter, r *http.Request) error {
	form, err := shell.ReadForm(rw, r)
	if err != nil {
		return err
	}
	feed, err := form.PingURL()
	if err != nil {
		given, _, _ := form.Get("url") // err reports what is wrong with the value
		return s.showPingError(rw, r, outcomeView{Ping: &pingForm{URL: shell.CleanText(given, 2048), URLError: shell.ErrorText(err)}})
	}
	res, err := s.Hub.Ping(r.Context(), hub.Ping{URL: feed, Via: "web", Source: s.CallerAddr(r), Count: true})
	if err != nil {
		return s.showRequestError(rw, r, err, "The ping failed", outcomeView{Feed: new(NewFeedLink(feed)), Ping: &pingForm{URL: feed}})
	}
	v := outcomeView{View: s.wideView(r, "Thanks for the ping"), Good: true, Lines: pingWords(s.Locale(r), res), Feed: new(NewFeedLink(feed)), Ping: &pingForm{URL: feed}}
	return s.Render(rw, r, http.StatusOK, "outcome", v)
}

// showPingError shows the form again, with errors next to its fields.
func (s *Pages) showPingError(rw http.ResponseWriter, r *http.Request, v outcomeView) error {
	v.View = s.wideView(r, "The form has an error")
	v.Lines = []string{v.Say("Nothing was done. The error is below the field; fix it and send the form again.")}
	return s.Render(rw, r, http.StatusBadRequest, "outcome", v)
}

// showRequestError shows the error of the hub, and the form again.
func (s *Pages) showRequestError(rw http.ResponseWriter, r *http.Request, err error, heading string, v outcomeView) error {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return nil
	}
	status := s.Refused(rw, r, err)
	v.View = s.wideView(r, heading)
	v.Lines = []string{s.Locale(r).Fault(shell.Reason(err))}
	return s.Render(rw, r, status, "outcome", v)
}

// pingWords describes the result of a ping. Lines without values are locale keys, which the
// template translates.
func pingWords(l *locale.Locale, res hub.PingResult) []string {
	switch {
	case res.Pending:
		return []string{"Reading the feed takes longer than usual. The ping is stored on disk: once the feed has been read, its subscribers are notified if it changed."}
	case res.Changed && res.Known && res.Subscribers > 0:
		return []string{l.Say("The feed was read, and it has changed. Its %s being notified now.", locale.Quantity(res.Subscribers, "subscriber is", "subscribers are"))}
	case res.Changed && res.Known:
		return []string{"The feed was read, and it has changed. Its subscribers are being notified now."}
	case res.Changed:
		return []string{"The feed was read, and it has changed. It has no subscribers here, so there was nobody to notify."}
	case res.Checked && res.Known:
		return []string{"The feed was read, and it is the same as the last time, byte for byte. No subscribers were notified.",
			"If you did change it, save the file first and ping afterwards, and check that no cache is in between."}
	case !res.Known && res == (hub.PingResult{}):
		return []string{"The ping was accepted. If this feed has subscribers here, the hub reads it and notifies them; otherwise the ping has no effect."}
	case !res.Known:
		return []string{"This feed has no subscribers here, so there was nobody to notify."}
	}
	return []string{"The ping was accepted, and the feed will be checked in a moment."}
}
