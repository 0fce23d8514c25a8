package api

import (
	"slices"
	"strconv"
	"time"

	"cloudburst/client"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
)

const (
	maxSources    = 10_000 // maximum sources in one page
	maxName       = 500    // maximum bytes of a title or of a category name
	maxCategories = 100    // maximum categories of a source
)

func (s riverAPI) sources(c *riverCall) error {
	p := c.params(exchange.Paged("match", "category", "broken", "unread")...)
	q := river.SubscriptionQuery{Reader: c.reader, Match: p.Text("match"), Category: p.Text("category"), Broken: p.Boolean("broken"), Next: true,
		Unread: p.Boolean("unread"), Limit: p.LimitTo(maxSources)}
	cursor := p.Cursor()
	if p.Err != nil {
		return p.Err
	}
	if cursor != "" {
		n, err := strconv.ParseUint(cursor, 10, 31)
		if err != nil {
			return exchange.BadCursor(cursor)
		}
		q.Skip = int(n)
	}
	rows, err := s.River.Subscriptions(c.ctx(), q)
	if err != nil {
		return err
	}
	list := make([]client.Source, len(rows))
	for i := range rows {
		list[i] = form.Source(&rows[i], q.Unread)
	}
	page := exchange.Page{Name: "sources", Rows: list}
	if len(rows) == q.Limit {
		page.Next = strconv.Itoa(q.Skip + len(rows))
	}
	return exchange.OK(c.w, page)
}

func (s riverAPI) addSource(c *riverCall) error {
	var in client.SourceRequest
	if err := exchange.ReadJSON(c.w, c.r, &in); err != nil {
		return err
	}
	// Check only the length. The river checks the rest of the URL, because people may enter the URL
	// without http://.
	if err := exchange.FitText("url", in.URL, exchange.MaxURL); err != nil {
		return err
	}
	if in.URL == "" {
		return fault.New(fault.Invalid, "url is missing: it names a feed, or a page that has feeds.")
	}
	if err := checkFollowing(&in.Title, &in.Categories); err != nil {
		return err
	}
	every, err := interval(in.Interval)
	if err != nil {
		return err
	}
	login, err := loginFrom(in.Login)
	if err != nil {
		return err
	}
	c.allowSlowResponse()
	added, err := s.River.Add(c.ctx(), river.Request{Reader: c.reader, URL: in.URL, Title: in.Title, Categories: in.Categories,
		Interval: every, Login: login, First: in.First, Operator: !c.public})
	if err != nil {
		return err
	}
	out := client.AddedSource{New: added.New}
	for _, choice := range added.Choices {
		out.Choices = append(out.Choices, client.Choice{URL: choice.URL, Title: choice.Title, Format: choice.Format, Kind: choice.Kind})
	}
	if len(out.Choices) == 0 {
		src := form.Source(&added.Followed, false)
		out.Source = &src
	}
	return exchange.OK(c.w, out)
}

// checkFollowing returns a fault.Invalid if a title or a category name is too long, or if there are
// too many categories.
func checkFollowing(title *string, categories *[]string) error {
	if title != nil {
		if err := exchange.FitText("title", *title, maxName); err != nil {
			return err
		}
	}
	if categories == nil {
		return nil
	}
	if n := len(*categories); n > maxCategories {
		return fault.New(fault.Invalid, "categories has %d entries; at most %d are accepted.", n, maxCategories)
	}
	for _, name := range *categories {
		if name == "" {
			return fault.New(fault.Invalid, "categories contains an empty name.")
		}
		if err := exchange.FitText("The name of a category", name, maxName); err != nil {
			return err
		}
	}
	return nil
}

// interval converts the requested number of seconds between checks to a duration. fault.Invalid:
// the number is out of range.
func interval(seconds int64) (time.Duration, error) {
	const limit = 366 * 24 * 60 * 60
	if seconds < 0 || seconds > limit {
		return 0, fault.New(fault.Invalid, "interval_s is %d: it must be the number of seconds between two checks, or 0 for none.", seconds)
	}
	return time.Duration(seconds) * time.Second, nil
}

// loginFrom converts and checks the login of a request.
func loginFrom(in *client.Login) (river.Login, error) {
	if in == nil || in.Kind == "" {
		return river.Login{}, nil
	}
	l := river.Login{Kind: in.Kind, Name: in.Name, Secret: in.Secret}
	const needs = "A login of the kind %s needs %s."
	switch l.Kind {
	case river.LoginBasic, river.LoginWSSE:
		if l.Name == "" {
			return l, fault.New(fault.Invalid, needs, l.Kind, "the name of a user")
		}
	case river.LoginHeader:
		if l.Name == "" {
			return l, fault.New(fault.Invalid, needs, l.Kind, "the name of the header")
		}
	case river.LoginToken:
	default:
		return l, fault.New(fault.Invalid, "The login's kind is %q: it must be one of basic, token, wsse, header.", cut(l.Kind, 100))
	}
	if l.Secret == "" {
		return l, fault.New(fault.Invalid, needs, l.Kind, "a secret")
	}
	for _, text := range []struct{ name, value string }{{"The login's name", l.Name}, {"The login's secret", l.Secret}} {
		if err := exchange.FitText(text.name, text.value, 4096); err != nil {
			return l, err
		}
	}
	return l, nil
}

// sourceAt sends the source whose URL is in the parameter url.
func (s riverAPI) sourceAt(c *riverCall) error {
	f, err := s.namedSource(c)
	return s.answerSource(c, f, err)
}

// namedSource returns the source whose URL is in the parameter url.
func (s riverAPI) namedSource(c *riverCall) (river.Followed, error) {
	p := c.params("url")
	what := p.Text("url")
	if p.Err != nil {
		return river.Followed{}, p.Err
	}
	if what == "" {
		return river.Followed{}, fault.New(fault.Invalid, "The parameter url is missing: it names the feed, by URL or id.")
	}
	return s.River.Find(c.ctx(), c.reader, what)
}

func (s riverAPI) answerSource(c *riverCall, f river.Followed, err error) error {
	if err != nil {
		return err
	}
	list, err := s.River.Subscriptions(c.ctx(), river.SubscriptionQuery{Reader: c.reader, SourceID: f.Source.ID, Next: true, Limit: 1})
	if err != nil {
		return err
	}
	if len(list) > 0 { // the list is empty if the user has unfollowed the source since
		f = list[0]
	}
	return exchange.OK(c.w, form.Source(&f, false))
}

func (s riverAPI) source(c *riverCall) error {
	f, err := s.followed(c)
	return s.answerSource(c, f, err)
}

func (s riverAPI) changeSource(c *riverCall) error {
	id, err := c.id()
	if err != nil {
		return err
	}
	var in client.SourceChange
	if err := exchange.ReadJSON(c.w, c.r, &in); err != nil {
		return err
	}
	if err := checkFollowing(in.Title, in.Categories); err != nil {
		return err
	}
	var every time.Duration
	if in.Interval != nil {
		if every, err = interval(*in.Interval); err != nil {
			return err
		}
	}
	login, err := loginFrom(in.Login)
	if err != nil {
		return err
	}
	if in.CNWS != nil {
		return s.setCNWS(c, id, &in)
	}
	if in.Login != nil {
		// A change of the login is a transaction of its own, so a failure could leave a request with
		// other fields half applied.
		if in.Title != nil || in.Categories != nil || in.Interval != nil || in.FullText != nil {
			return fault.New(fault.Invalid, "The login cannot be changed together with other fields: send two requests. Nothing was changed.")
		}
		f, err := s.River.SetLogin(c.ctx(), c.reader, id, login)
		return s.answerSource(c, f, err)
	}
	f, err := s.River.Change(c.ctx(), c.reader, id, func(sub *river.Subscription) error {
		if in.Title != nil {
			sub.Title = *in.Title
		}
		if in.Categories != nil {
			sub.Categories = slices.Compact(slices.Sorted(slices.Values(*in.Categories)))
		}
		if in.Interval != nil {
			sub.Interval = every
		}
		if in.FullText != nil {
			sub.FullText = *in.FullText
		}
		return nil
	})
	return s.answerSource(c, f, err)
}

// setCNWS sets the CNWS hub of a source for all users who follow the source.
func (s riverAPI) setCNWS(c *riverCall, id int64, in *client.SourceChange) error {
	switch {
	case c.public:
		return fault.New(fault.Refused, "Only the operator of this server can name a CNWS hub.")
	case in.Title != nil || in.Categories != nil || in.Interval != nil || in.FullText != nil || in.Login != nil:
		return fault.New(fault.Invalid, "The CNWS hub cannot be changed together with other fields: send two requests. Nothing was changed.")
	}
	f, err := s.River.SetCNWS(c.ctx(), c.reader, id, *in.CNWS)
	return s.answerSource(c, f, err)
}

func (s riverAPI) removeSource(c *riverCall) error {
	f, err := s.followed(c)
	if err != nil {
		return err
	}
	err = s.River.Remove(c.ctx(), c.reader, f.Source.ID)
	return exchange.Answer(c.w, map[string]client.Source{"removed": form.Source(&f, false)}, err)
}

func (s riverAPI) refreshSource(c *riverCall) error {
	f, err := s.followed(c)
	if err != nil {
		return err
	}
	c.allowSlowResponse()
	check, err := s.River.Refresh(c.ctx(), f.Source.ID)
	return exchange.Answer(c.w, form.Check(&check), err)
}

// refreshSources makes all sources due. The scheduler then reads them within the limits for each
// host.
func (s riverAPI) refreshSources(c *riverCall) error {
	c.allowSlowResponse()
	due, all, err := s.River.CheckAllSoon(c.ctx(), c.reader)
	return exchange.Answer(c.w, client.RefreshedSources{Due: due, Sources: all}, err)
}

func (s riverAPI) reviveSource(c *riverCall) error {
	id, err := c.id()
	if err != nil {
		return err
	}
	f, err := s.River.Revive(c.ctx(), c.reader, id)
	return s.answerSource(c, f, err)
}

func (s riverAPI) undoSource(c *riverCall) error {
	id, err := c.id()
	if err != nil {
		return err
	}
	f, err := s.River.Undo(c.ctx(), c.reader, id)
	return s.answerSource(c, f, err)
}

func (s riverAPI) explainSource(c *riverCall) error {
	f, err := s.followed(c)
	return s.answerExplained(c, f, err)
}

func (s riverAPI) explainAt(c *riverCall) error {
	f, err := s.namedSource(c)
	return s.answerExplained(c, f, err)
}

func (s riverAPI) answerExplained(c *riverCall, f river.Followed, err error) error {
	if err != nil {
		return err
	}
	e, err := s.River.Explain(c.ctx(), f.Source.ID)
	if err != nil {
		return err
	}
	f.Source = e.Source
	return exchange.OK(c.w, form.Explanation(&f, &e))
}
