package readcli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/feed"
	"cloudburst/feed/polling"
	"cloudburst/internal/cli/shell"
	"cloudburst/protocol/rsscloud"
)

func (p *commands) explain() *cobra.Command {
	x := &explainer{p: p}
	c := shell.ServerFlags(&cobra.Command{
		Use:   "explain URL…",
		Short: "Explain when a feed is read next, and why",
		Long: `For a feed that this server follows, the command prints the time of the next check, its
reason and the other hints considered, the results of the last checks, and the hubs that
announce changes and their reliability. --checks adds the requests and responses.

Any other feed is read as a new subscriber would read it, and requested a second time
with the validators of the first response. The command prints the effect of redirects,
whether the server supports conditional requests, the effect of each hint in the feed and
in the response, the time of the next check, and the hubs that can announce changes.
--stranger treats a followed feed in the same way.

Times are local, except skipHours and skipDays, which are in GMT. --json prints one
object per line, described in docs/reference/json.md and, for a followed feed, in
docs/reference/river-json.md.

The exit status is 1 if a URL cannot be read or is not a feed. The command also explains
what a reader would do in this case.`,
		Example: "  cloudburst explain https://example.org/rss.xml\n  cloudburst explain --json https://example.org/rss.xml | jq .next.reason",
		Args:    shell.Between(1, -1, "the URL of at least one feed"),
		RunE: func(c *cobra.Command, urls []string) error {
			for _, u := range urls {
				if err := shell.CheckURL(u); err != nil {
					return shell.AsUsageError(err)
				}
			}
			if x.unknown && x.user != "" {
				return shell.Usagef("--stranger and --user cannot be combined")
			}
			return x.run(c, urls)
		},
	})
	ofReader(c, &x.user)
	c.Flags().BoolVar(&x.unknown, "stranger", false, "treat a followed feed as unknown")
	c.Flags().BoolVarP(&x.exchange, "checks", "v", false, "also print the requests and responses of the last checks")
	c.Flags().BoolVar(&x.asJSON, "json", false, "print one JSON object per line")
	return c
}

// explanation is the output of --json for one URL.
type explanation struct {
	Input      string               `json:"input"`
	URL        string               `json:"url,omitempty"` // URL after redirects
	Status     int                  `json:"status,omitempty"`
	Protocol   string               `json:"protocol,omitempty"`
	Redirects  []explainedRedirect  `json:"redirects,omitempty"`
	Type       string               `json:"type,omitempty"`
	Bytes      int                  `json:"bytes,omitempty"`
	OnTheWay   int64                `json:"onTheWay,omitempty"`
	Coding     string               `json:"coding,omitempty"`
	Format     feed.Format          `json:"format,omitempty"`
	Version    string               `json:"version,omitempty"`
	Title      string               `json:"title,omitempty"`
	Items      int                  `json:"items,omitempty"`
	Newest     time.Time            `json:"newest,omitzero"`
	Spacing    float64              `json:"spacing,omitempty"` // average time between posts in seconds
	Validators *explainedValidators `json:"validators,omitempty"`
	Cache      *explainedCache      `json:"cache,omitempty"`
	Hints      feed.Hints           `json:"hints,omitzero"` // polling hints in the feed
	Next       *polling.Decision    `json:"next,omitempty"`
	Push       []explainedPush      `json:"push,omitempty"`
	Problems   int                  `json:"problems"`
	Kinds      []explainedProblem   `json:"problemKinds,omitempty"`
	Error      *shell.InputError    `json:"error,omitempty"`

	p       *commands
	now     time.Time
	variant string
	header  http.Header // headers of the first response
}

type explainedRedirect struct {
	Status   int    `json:"status,omitempty"` // HTTP status of the redirect; 0: the document itself redirects
	From     string `json:"from"`
	To       string `json:"to"`
	Document bool   `json:"document,omitempty"`
	Lasting  bool   `json:"lasting"` // feed readers eventually store the new URL
	Means    string `json:"means"`
}

type explainedValidators struct {
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"lastModified,omitempty"`
	Status       int    `json:"status,omitempty"` // status of the second request
	Works        bool   `json:"works"`
	Means        string `json:"means"`
}

type explainedCache struct {
	CacheControl string  `json:"cacheControl,omitempty"`
	Expires      string  `json:"expires,omitempty"`
	Age          string  `json:"age,omitempty"`
	Fresh        float64 `json:"fresh,omitempty"` // time in seconds for which the response is fresh
}

type explainedPush struct {
	Protocol string `json:"protocol"` // "rssCloud", "WebSub" or the type that a JSON Feed states
	Via      string `json:"via,omitempty"`
	URL      string `json:"url,omitempty"`
	Problem  string `json:"problem,omitempty"`
}

type explainedProblem struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
	Line  int    `json:"line,omitempty"` // line of the first problem
	Text  string `json:"message"`
}

// read requests the feed and fills all fields.
func (e *explanation) read(ctx context.Context) {
	s := polling.New(e.Input, e.now)
	r := e.p.reader()
	got, f := e.follow(ctx, r, s)
	after, d := polling.Next(s, got.answer, e.now, polling.Options{})
	e.Next = &d
	e.describe(got)
	if f != nil {
		e.describeFeed(f, after)
		e.Cache = e.freshness(after)
	}
	if d.Outcome == polling.Changed {
		e.revalidate(ctx, r, after)
	}
	switch {
	case e.Error != nil:
	case d.Gone:
		e.fail("%s is gone: its server returned %s", e.Input, d.Reason)
	case d.Failure != "":
		e.fail("%s cannot be read: %s", e.Input, d.Failure)
	}
}

func (e *explanation) fail(format string, args ...any) {
	e.Error = &shell.InputError{Message: fmt.Sprintf(format, args...)}
}

// follow reads the feed. It follows HTTP redirects and redirects in documents.
func (e *explanation) follow(ctx context.Context, r *reader, s polling.State) (exchange, *feed.Feed) {
	got := r.get(ctx, e.Input, polling.Validators{}, nil)
	for {
		if got.answer.Error != "" || got.answer.Status < 200 || got.answer.Status > 299 {
			return got, nil
		}
		f, err := feed.ParseBytes(got.body, &feed.Options{URL: got.answer.URL, Header: got.answer.Header})
		got.answer.Read(f, err)
		if err != nil {
			failure := shell.NotFeed(got.answer.URL, err)
			e.Error = &failure
			return got, nil
		}
		hop, ok := got.answer.Follow(s)
		if !ok {
			return got, f
		}
		got = r.get(ctx, hop.To, polling.Validators{}, append(got.answer.Hops, hop))
	}
}

func (e *explanation) describe(got exchange) {
	a := got.answer
	e.URL, e.Status, e.Protocol = a.URL, a.Status, got.protocol
	e.Bytes, e.OnTheWay, e.Coding = len(got.body), got.transferred, got.coding
	e.header, e.Type = a.Header, a.Header.Get("Content-Type")
	lasting := true
	for _, h := range a.Hops {
		lasting = lasting && (h.Status == http.StatusMovedPermanently || h.Status == http.StatusPermanentRedirect)
		out := explainedRedirect{Status: h.Status, From: h.From, To: h.To, Document: h.Document, Lasting: lasting}
		down := polling.Downgraded([]polling.Hop{h})
		switch {
		case down:
			out.Lasting, lasting = false, false
			out.Means = "from https to http: followed, but the https URL stays stored"
		case lasting:
			out.Means = fmt.Sprintf("permanent: the new URL is stored after %d checks over %d hours",
				polling.MoveSightings, int(polling.MoveSeenFor.Hours()))
		case h.Status == http.StatusMovedPermanently || h.Status == http.StatusPermanentRedirect:
			out.Means = "permanent, but after a temporary redirect: followed each time"
		default:
			out.Means = "temporary: followed each time; the old URL stays stored"
		}
		if h.Document {
			out.Status = 0
		}
		e.Redirects = append(e.Redirects, out)
	}
}

func (e *explanation) describeFeed(f *feed.Feed, s polling.State) {
	e.Format, e.Version, e.variant = f.Format, f.Version, f.Variant
	e.Title, e.Items = shell.TidyTitle(f.Title.Value), len(f.Items)
	e.Newest, e.Spacing = s.Newest, s.Spacing.Seconds()
	e.Hints = f.Hints
	for i := range f.Clouds {
		e.Push = append(e.Push, explainCloud(f.Clouds[i], e.URL))
	}
	for _, h := range f.Hubs {
		e.Push = append(e.Push, explainedPush{Protocol: h.Type, URL: h.URL})
	}
	e.Problems = len(f.Problems)
	for _, p := range f.Problems {
		i := slices.IndexFunc(e.Kinds, func(k explainedProblem) bool { return k.Kind == p.Kind })
		if i < 0 {
			i = len(e.Kinds)
			e.Kinds = append(e.Kinds, explainedProblem{Kind: p.Kind, Line: p.Line, Text: p.Message})
		}
		e.Kinds[i].Count++
	}
}

// explainCloud describes the hub of a <cloud> element, or the error in the element. If domain is
// missing, it is the host of the feed; if port is missing, it is the default port of the protocol.
func explainCloud(c feed.Cloud, feedURL string) explainedPush {
	out := explainedPush{Protocol: "rssCloud", Via: c.Protocol}
	element := fmt.Sprintf("<rss><channel><cloud domain=%s port=%s path=%s registerProcedure=%s protocol=%s/></channel></rss>",
		attribute(c.Domain), attribute(c.Port), attribute(c.Path), attribute(c.RegisterProcedure), attribute(c.Protocol))
	cloud, err := rsscloud.FindCloud([]byte(element), feedURL)
	if err == nil {
		out.URL, err = cloud.RegisterURL()
	}
	if err != nil {
		out.Problem = shell.Sentence(err)
	}
	return out
}

// revalidate requests the feed again with the validators of the first response.
func (e *explanation) revalidate(ctx context.Context, r *reader, s polling.State) {
	v := polling.Request(s)
	out := &explainedValidators{ETag: v.ETag, LastModified: v.LastModified}
	e.Validators = out
	if v.Empty() {
		out.Means = "no ETag and no Last-Modified: every check transfers the whole feed"
		return
	}
	got := r.get(ctx, v.URL, v, nil)
	out.Status = got.answer.Status
	switch {
	case got.answer.Error != "":
		out.Means = "the second request failed: " + got.answer.Detail
	case out.Status == http.StatusNotModified:
		out.Works, out.Means = true, "the server returned 304: checks of an unchanged feed transfer only a few bytes"
	case out.Status != http.StatusOK:
		out.Means = "the second request returned " + strconv.Itoa(out.Status)
	case got.answer.Hash == s.Hash:
		out.Means = "the server ignores validators and sent the unchanged feed instead of 304"
	default:
		out.Means = "the server sent a different document: the feed just changed, or differs in each response"
	}
	if tag := got.answer.Header.Get("ETag"); out.Status == http.StatusOK && tag != v.ETag && got.answer.Hash == s.Hash {
		out.Means += ", and its ETag differs in each response"
	}
}

func (e *explanation) freshness(s polling.State) *explainedCache {
	out := explainedCache{CacheControl: e.header.Get("Cache-Control"), Expires: e.header.Get("Expires"), Age: e.header.Get("Age"), Fresh: s.Cache.Fresh.Seconds()}
	if out == (explainedCache{}) {
		return nil
	}
	return &out
}

func hashOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

func attribute(s string) string { return `"` + html.EscapeString(s) + `"` }
