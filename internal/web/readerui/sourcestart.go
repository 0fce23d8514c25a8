package readerui

import (
	"bytes"
	_ "embed"
	"net/http"
	"net/url"
	"slices"

	"cloudburst/feed/opml"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

// startList is a list of recommended feeds; it describes the feeds and contains none of their
// items.
//
//go:embed start.opml
var startList []byte

type startView struct {
	followView
	May     bool // the user may select feeds
	None    bool // no account exists yet
	Test    *startFeed
	People  []startFeed // authors of this server
	Folders []startFolder
	Wrong   string
	Begins  bool // the user follows nothing, or only the test feed
	Follows int
}

type startFolder struct {
	Name  string
	Feeds []startFeed
}

type startFeed struct {
	ID, URL, Title, Text, Home string
	Chosen, Had                bool
}

// startFolders returns the list by folder.
func startFolders() (all []startFolder, err error) {
	list, err := opml.ParseBytes(startList, nil)
	if err != nil {
		return nil, err
	}
	n := 0
	for i := range list.Outlines {
		folder := startFolder{Name: list.Outlines[i].Text}
		for _, o := range list.Outlines[i].Outlines {
			n++
			folder.Feeds = append(folder.Feeds, startFeed{ID: "w-" + shell.FormatCount(n), URL: o.FeedURL(), Title: o.Text, Text: o.Description, Home: o.HTMLURL})
		}
		all = append(all, folder)
	}
	return all, nil
}

// startPage is the first page of a user who follows nothing. It offers the recommended feeds.
func (s *followPages) startPage(rw http.ResponseWriter, r *http.Request) error {
	reader, may, err := s.readerOrReason(r)
	switch {
	case err != nil:
		return err
	case may != accessWrite && s.Accounts != nil && !(s.Fresh != nil && s.Fresh(r.Context())):
		s.forReader(accessWrite, nil)(rw, r) // redirects to sign in
		return nil
	}
	return s.showStart(rw, r, reader, may == accessWrite, http.StatusOK, nil, "")
}

// showStart shows the recommended feeds. chosen has the URLs of the ticked feeds; nil: the user has
// sent no form yet.
func (s *followPages) showStart(rw http.ResponseWriter, r *http.Request, reader string, may bool, status int, chosen []string, wrong string) error {
	v := startView{followView: s.followView(r, "What do you want to read?"), May: may, Wrong: wrong}
	v.None = s.Accounts != nil && s.Accounts.SetupToken() != ""
	had := map[int64]bool{}
	var err error
	if v.Folders, err = startFolders(); err == nil && may {
		had, err = s.River.Following(r.Context(), reader)
	}
	if err != nil {
		return err
	}
	v.Follows, v.Begins = len(had), s.followsOnlyDefaults(had)
	mark := func(f *startFeed) {
		f.Had = had[river.SourceID(f.URL)]
		f.Chosen = slices.Contains(chosen, f.URL)
	}
	if s.TestFeed != "" {
		v.Test = &startFeed{ID: "w-test", URL: s.TestFeed, Title: v.Say("The test feed of this server"), Text: "Has a new item every 15 minutes, so that you see items arrive"}
		mark(v.Test)
		v.Test.Chosen = v.Test.Chosen || chosen == nil
	}
	if may {
		if v.People, err = s.people(r); err != nil {
			return err
		}
	}
	for i := range v.People {
		mark(&v.People[i])
	}
	for i := range v.Folders {
		for j := range v.Folders[i].Feeds {
			mark(&v.Folders[i].Feeds[j])
		}
	}
	return s.Render(rw, r, status, "sourcestart", v)
}

const (
	peoplePosts = 200 // number of newest posts whose authors are offered
	maxPeople   = 20
)

// people lists the authors of the newest posts of this server with their feeds. It omits the
// current user.
func (s *followPages) people(r *http.Request) (all []startFeed, err error) {
	if s.Posts == nil {
		return nil, nil
	}
	newest, err := s.Posts.List(r.Context(), author.PostQuery{State: author.Published, Limit: peoplePosts})
	if err != nil {
		return nil, err
	}
	user, now, seen := s.Visitor(r).User, s.CurrentTime(), map[string]bool{}
	for i := range newest {
		p := &newest[i]
		if p.User == user || seen[p.User] || len(all) == maxPeople {
			continue
		}
		seen[p.User] = true
		w, err := s.Posts.Writer(r.Context(), p.User)
		if err != nil {
			return nil, err
		}
		one := startFeed{ID: "w-p" + shell.FormatCount(len(all)), URL: s.BaseURL(r) + author.FeedPath(p.User), Title: p.User, Home: s.BaseURL(r) + "/" + url.PathEscape(p.User) + "/"}
		if name := shell.CleanText(w.Profile.Name, 100); name != "" {
			one.Title = name
		}
		if one.Text = shell.CleanText(w.Profile.Blurb, 160); one.Text == "" {
			one.Text = s.Locale(r).Say("newest post %s", s.Locale(r).Relative(now, p.PublishedAt))
		}
		all = append(all, one)
	}
	return all, nil
}

// followsOnlyDefaults reports whether a user follows nothing, or only the test feed. A new server
// follows its own test feed, so that the river is not empty.
func (s *base) followsOnlyDefaults(follows map[int64]bool) bool {
	return len(follows) == 0 || len(follows) == 1 && s.TestFeed != "" && follows[river.SourceID(s.TestFeed)]
}

// doStart follows the ticked feeds.
func (s *followPages) doStart(rw http.ResponseWriter, r *http.Request, reader string, form rsscloud.Form) error {
	chosen := []string{}
	for _, field := range form {
		if field.Name == "feed" {
			chosen = append(chosen, field.Value)
		}
	}
	doc, err := s.startChoice(r, chosen)
	if err != nil {
		return err
	}
	if doc == nil {
		return s.showStart(rw, r, reader, true, http.StatusBadRequest, chosen, "Tick at least one feed, or use one of the other ways below.")
	}
	res, err := s.River.Import(r.Context(), reader, bytes.NewReader(doc), river.ImportOptions{})
	if err == nil && res.Over > 0 {
		err = fault.New(fault.TooMany, "%s", res.Problems[0])
	}
	if err != nil {
		status, _ := shell.StatusOf(err)
		if status >= 500 {
			return err
		}
		shell.SetRetryAfter(rw, err)
		return s.showStart(rw, r, reader, true, status, chosen, shell.Reason(err))
	}
	return shell.Redirect(rw, r, "/river")
}

// startChoice returns the ticked feeds as OPML; nil: no feed of the page is ticked.
func (s *followPages) startChoice(r *http.Request, chosen []string) ([]byte, error) {
	folders, err := startFolders()
	if err != nil {
		return nil, err
	}
	people, err := s.people(r)
	if err != nil {
		return nil, err
	}
	var d opml.Document
	n := 0
	if s.TestFeed != "" && slices.Contains(chosen, s.TestFeed) {
		n++
		d.Add(opml.Outline{Text: "Cloudburst test feed", Type: "rss", XMLURL: s.TestFeed})
	}
	for _, f := range people {
		if slices.Contains(chosen, f.URL) {
			n++
			d.Add(opml.Outline{Text: f.Title, Type: "rss", XMLURL: f.URL, HTMLURL: f.Home})
		}
	}
	for _, folder := range folders {
		for _, f := range folder.Feeds {
			if slices.Contains(chosen, f.URL) {
				n++
				d.Add(opml.Outline{Text: f.Title, Type: "rss", XMLURL: f.URL, HTMLURL: f.Home}, folder.Name)
			}
		}
	}
	if n == 0 {
		return nil, nil
	}
	var out bytes.Buffer
	if _, err := d.WriteTo(&out); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "The list could not be created.")
	}
	return out.Bytes(), nil
}
