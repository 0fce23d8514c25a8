package form

import (
	"cmp"
	"time"

	"cloudburst/client"
	"cloudburst/internal/river"
	"cloudburst/internal/river/filter"
	"cloudburst/internal/river/forward"
)

// States of a source.
const (
	sourceNew     = "new"
	sourceOK      = "ok"
	sourceFailing = "failing"
	sourceGone    = "gone"
)

// Filter converts a filter.
func Filter(f *filter.Rule) client.Filter {
	out := client.Filter{ID: f.ID, Name: f.Name, SourceID: f.SourceID, Category: f.Category, FilterActions: client.FilterActions(f.Actions), Off: f.Off,
		Matched: f.Matched, LastAt: When(f.LastAt), Applying: f.Applying, Applied: f.Applied, CreatedAt: Milli(f.CreatedAt), Conditions: []client.FilterCondition{}}
	for _, c := range f.Conditions {
		out.Conditions = append(out.Conditions, client.FilterCondition(c))
	}
	return out
}

// Source converts a followed feed. If unread is true, the result contains the number of unread
// items.
func Source(f *river.Followed, unread bool) client.Source {
	src, st := &f.Source, &f.Source.State
	out := client.Source{
		ID: src.ID, URL: src.URL, Title: f.Name(), OwnTitle: f.Title, FeedTitle: src.About.Title,
		Categories: append([]string{}, f.Categories...), Interval: int64(f.Interval / time.Second), ListID: f.ListID, Private: src.Hidden(), FullText: f.FullText,
		Description: src.About.Description, Home: src.About.Home, Icon: src.About.Icon, Language: src.About.Language, Format: src.About.Format,
		Repaired: src.About.Problem, Failures: st.Failures,
		AddedAt: Milli(f.AddedAt), CheckedAt: When(st.CheckedAt), ChangedAt: When(st.ChangedAt), NewestAt: When(src.NewestAt),
		Items: src.Items, Readers: src.Readers,
	}
	out.NextAt, out.Why, out.Reading = When(f.Next.At), f.Next.Why, f.Next.State == river.NextRunning
	if src.Private() {
		// Never return the secret, not even to the user who entered it.
		out.Login = &client.Login{Kind: src.Login.Kind, Name: src.Login.Name}
	}
	if n := len(st.Moves); n > 0 {
		m := st.Moves[n-1]
		out.Moved = &client.Move{From: m.From, To: m.To, At: Milli(m.At), Why: m.Why}
	}
	if p := st.Push; !p.Since.IsZero() && !st.CheckedAt.IsZero() {
		out.Push = p.Live(st.CheckedAt)
	}
	out.State, out.Problem = condition(src)
	if unread {
		out.Unread = &f.Unread
	}
	return out
}

// condition returns the state of a source and a description of its problem; "": no problem.
func condition(src *river.Source) (state, problem string) {
	switch st := &src.State; {
	case st.Gone != nil:
		return sourceGone, st.Gone.Reason
	case st.Failure != nil:
		return sourceFailing, st.Failure.Text
	case st.CheckedAt.IsZero() && st.ReadAt.IsZero() && st.ChangedAt.IsZero():
		return sourceNew, ""
	}
	return sourceOK, ""
}

// Item converts an item of a river.
func Item(e *river.Entry) client.Item {
	e.ShowFull()
	return client.Item{
		ID: e.ID, Seq: e.Seq, At: Milli(e.At), ReadAt: Milli(e.ReadAt), EditedAt: When(e.EditedAt), WithdrawnAt: When(e.WithdrawnAt), GUID: e.GUID,
		Content: content(&e.Content), Read: e.Read, FullText: e.Full.HTML != "", Starred: e.Starred, StarredAt: When(e.StarredAt),
		Source: client.ItemSource{ID: e.Source.ID, Title: e.Source.Title, URL: e.Source.URL, Home: e.Source.Home, Icon: e.Source.Icon,
			Categories: append([]string{}, e.Source.Categories...), Private: e.Source.Private},
	}
}

func content(in *river.Content) client.Content {
	out := client.Content{
		Title: in.Title, Link: in.Link, HTML: in.HTML, Text: in.Text, Language: in.Language, Published: When(in.Published), Updated: When(in.Updated),
		Authors: in.Authors, Categories: in.Categories, Image: in.Image, Comments: in.Comments, InReplyTo: in.InReplyTo, Via: in.Via, More: in.More,
	}
	for _, e := range in.Enclosures {
		out.Enclosures = append(out.Enclosures, client.Enclosure{URL: e.URL, Type: e.Type, Length: e.Length, Duration: e.Duration, Title: e.Title})
	}
	for i := range in.Nested {
		out.Nested = append(out.Nested, content(&in.Nested[i]))
	}
	return out
}

// Explanation converts the schedule of a followed feed and the reasons for the schedule.
func Explanation(f *river.Followed, e *river.Explanation) client.Explanation {
	next := *f
	next.Next = e.Next
	out := client.Explanation{
		Source: Source(&next, false), Sentence: e.Sentence, Trust: e.Trust, Notes: append([]string{}, e.Notes...),
		Considered: make([]client.Consideration, len(e.Decision.Considered)), Checks: make([]client.Check, len(e.Checks)),
		Push: make([]client.PushState, len(e.Push)),
	}
	for i, c := range e.Decision.Considered {
		out.Considered[i] = client.Consideration{Rule: string(c.Rule), Value: c.Value, Text: c.Text, Until: When(c.Until), Effect: string(c.Effect), Note: c.Note}
	}
	for i := range e.Checks {
		out.Checks[i] = Check(&e.Checks[i])
	}
	for i, p := range e.Push {
		out.Push[i] = client.PushState{Protocol: p.Protocol, Hub: p.Hub, Wire: p.Wire, Own: p.Own, State: p.State, Since: When(p.Since), Until: When(p.Until),
			PushedAt: When(p.PushedAt), Rejected: p.Rejected, LastError: p.LastError}
	}
	return out
}

// Check converts a check of a followed feed.
func Check(c *river.Check) client.Check {
	out := client.Check{
		At: Milli(c.At), TookMS: float64(c.Took) / float64(time.Millisecond), Cause: cmp.Or(string(c.Cause), "due"), Via: c.Via, Asked: c.Asked, AskedWhy: c.AskedWhy, URL: c.URL, Status: c.Status,
		Outcome: string(c.Outcome), Text: c.Text, Next: When(c.Next), Why: c.Why, New: c.New, Edited: c.Edited, Withdrawn: c.Withdrawn, Bytes: c.Bytes,
		Sent: c.Sent, Received: c.Received,
	}
	for _, h := range c.Hops {
		out.Hops = append(out.Hops, client.Hop{Status: h.Status, From: h.From, To: h.To, Document: h.Document})
	}
	return out
}

// ImportedOPML converts the result of an OPML import.
func ImportedOPML(r *river.Imported) client.ImportedOPML {
	return client.ImportedOPML{Title: r.Title, Found: r.Found, Added: r.Added, Existing: r.Had, OverLimit: r.Over, Limit: r.Limit, Lists: r.Lists, Skipped: r.Skipped, Problems: r.Problems}
}

// Forwarding converts a forwarding. The result does not contain the secret.
func Forwarding(n *forward.Forwarding) client.Forwarding {
	return client.Forwarding{
		ID: n.ID, SourceID: n.SourceID, Category: n.Category, Via: n.Via, Target: n.Target, Signed: n.Secret != "", Paused: n.Paused,
		CreatedAt: Milli(n.CreatedAt), Sent: n.Sent, LastAt: When(n.LastAt), Failures: n.Failures, Problem: n.Problem,
		State: n.State, AskedAt: When(n.AskedAt), DecidedAt: When(n.DecidedAt), Digest: n.Digest,
	}
}

// RiverLive converts the current activity of the river.
func RiverLive(l river.Live) *client.RiverLive {
	return &client.RiverLive{Reading: l.Reading, Waiting: l.Waiting, Listening: l.Listening, Checks: l.Checks, Unchanged: l.Unchanged, Failed: l.Failed,
		Delivered: l.Delivered, New: l.New, Edited: l.Edited, Withdrawn: l.Withdrawn}
}

// RiverCounts converts the numbers of feeds in all rivers.
func RiverCounts(n river.SourceCounts) *client.RiverCounts {
	return &client.RiverCounts{Sources: n.Sources, Followed: n.Followed, Due: n.Due, Failing: n.Failing, Gone: n.Gone, Pushed: n.Pushed, Items: n.Items,
		Subscriptions: n.Subscriptions, Readers: n.Readers}
}
