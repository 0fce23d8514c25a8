package hubui

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/web/shell"
)

// testFeedQuarter is how often the test feed changes by itself.
const testFeedQuarter = 15 * time.Minute

// testFeedView is the page about the feed that changes by itself.
type testFeedView struct {
	shell.View
	URL     string
	Next    shell.Moment
	Asks    []testFeedTopic
	Known   bool // how many follow it
	Total   int64
	By      []testFeedFollowers
	May     bool // who looks may have it change
	Message string
}

// testFeedAsk is a way to follow it, for a terminal.
type testFeedTopic struct{ ID, Label, Text string }

type testFeedFollowers struct {
	Protocol string
	N        int64
}

// testFeedPage says what the test feed is for and how it is followed.
func (s *Pages) testFeedPage(rw http.ResponseWriter, r *http.Request) {
	v := testFeedView{View: s.NewView(r, "A feed to test with", ""), URL: s.TestFeed, May: s.mayTick(r)}
	v.Feed = s.TestFeed
	v.Next = v.When(v.Now.Truncate(testFeedQuarter).Add(testFeedQuarter))
	base := s.BaseURL(r)
	v.Asks = []testFeedTopic{
		{"listen", "With this program", "cloudburst listen " + s.TestFeed},
		{"cloud", "rssCloud", "curl -d notifyProcedure= -d protocol=http-post -d domain=example.org -d port=80 -d path=/callback \\\n  --data-urlencode url1=" + s.TestFeed + " " + base + "/rsscloud/pleaseNotify"},
		{"websub", "WebSub", "curl -d hub.mode=subscribe -d hub.callback=https://example.org/callback \\\n  --data-urlencode hub.topic=" + s.TestFeed + " " + base + "/websub"},
	}
	if r.URL.Query().Get("done") == "ticked" {
		v.Message = "The feed has changed, and whoever follows it is being told."
	}
	by, err := s.Store.Subscribers(r.Context(), hub.TopicID(s.TestFeed), v.Now)
	v.Known = err == nil
	for protocol, n := range by {
		v.Total += n
		v.By = append(v.By, testFeedFollowers{protocol, n})
	}
	slices.SortFunc(v.By, func(a, b testFeedFollowers) int { return strings.Compare(a.Protocol, b.Protocol) })
	s.Render(rw, r, http.StatusOK, "testfeed", v)
}

// mayTick reports the owner of the first account: who runs the server.
func (s *Pages) mayTick(r *http.Request) bool {
	user := s.Visitor(r).User
	return s.Tick != nil && s.ReaderOf != nil && user != "" && s.ReaderOf(user) == ""
}

// doTick has the test feed change.
func (s *Pages) doTick(rw http.ResponseWriter, r *http.Request, _ account.Session) {
	if !s.mayTick(r) {
		s.Fail(rw, r, fault.New(fault.Refused, "Only the owner of the first account has the test feed change. By itself it changes every quarter of an hour."))
		return
	}
	if _, _, err := s.Tick(r.Context()); err != nil {
		s.Fail(rw, r, err)
		return
	}
	http.Redirect(rw, r, "/test/?"+url.Values{"done": {"ticked"}}.Encode(), http.StatusSeeOther)
}
