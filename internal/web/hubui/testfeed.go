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

// testFeedQuarter is the interval of the changes of the test feed.
const testFeedQuarter = 15 * time.Minute

// testFeedView is the page about the test feed.
type testFeedView struct {
	shell.View
	URL     string
	Next    shell.Moment
	Asks    []testFeedTopic
	Known   bool // the number of subscribers is known
	Total   int64
	By      []testFeedFollowers
	May     bool // the user may change the feed now
	Message string
}

// testFeedTopic is a way to subscribe to the test feed from a terminal.
type testFeedTopic struct{ ID, Label, Text string }

type testFeedFollowers struct {
	Protocol string
	N        int64
}

// testFeedPage shows the purpose of the test feed and how to subscribe to it.
func (s *Pages) testFeedPage(rw http.ResponseWriter, r *http.Request) error {
	v := testFeedView{View: s.wideView(r, "Test feed"), URL: s.TestFeed, May: s.mayTick(r)}
	v.Feed = s.TestFeed
	v.Next = v.When(v.Now.Truncate(testFeedQuarter).Add(testFeedQuarter))
	base := s.BaseURL(r)
	v.Asks = []testFeedTopic{
		{"listen", "With this program", "cloudburst listen " + s.TestFeed},
		{"cloud", "rssCloud", "curl -d notifyProcedure= -d protocol=http-post -d domain=example.org -d port=80 -d path=/callback \\\n  --data-urlencode url1=" + s.TestFeed + " " + base + "/rsscloud/pleaseNotify"},
		{"websub", "WebSub", "curl -d hub.mode=subscribe -d hub.callback=https://example.org/callback \\\n  --data-urlencode hub.topic=" + s.TestFeed + " " + base + "/websub"},
	}
	if r.URL.Query().Get("done") == "ticked" {
		v.Message = "The feed has changed, and its subscribers are being notified."
	}
	by, err := s.Store.Subscribers(r.Context(), hub.TopicID(s.TestFeed), v.Now)
	v.Known = err == nil
	for protocol, n := range by {
		v.Total += n
		v.By = append(v.By, testFeedFollowers{protocol, n})
	}
	slices.SortFunc(v.By, func(a, b testFeedFollowers) int { return strings.Compare(a.Protocol, b.Protocol) })
	return s.Render(rw, r, http.StatusOK, "testfeed", v)
}

// mayTick reports whether the user owns the first account. This account belongs to the operator.
func (s *Pages) mayTick(r *http.Request) bool {
	user := s.Visitor(r).User
	return s.Tick != nil && s.ReaderOf != nil && user != "" && s.ReaderOf(user) == ""
}

// doTick changes the test feed.
func (s *Pages) doTick(rw http.ResponseWriter, r *http.Request, _ account.Session) error {
	if !s.mayTick(r) {
		return fault.New(fault.Refused, "Only the owner of the first account can change the test feed. It changes every 15 minutes anyway.")
	}
	if _, _, err := s.Tick(r.Context()); err != nil {
		return err
	}
	return shell.Redirect(rw, r, "/test/?"+url.Values{"done": {"ticked"}}.Encode())
}
