package api

import (
	"cmp"
	"time"

	"cloudburst/client"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
)

// States of a source.
const (
	sourceNew     = "new"
	sourceOK      = "ok"
	sourceFailing = "failing"
	sourceGone    = "gone"
)

func sourceOf(f *river.Followed, unread bool) client.Source {
	src, st := &f.Source, &f.Source.State
	out := client.Source{
		ID: src.ID, URL: src.URL, Title: f.Name(), OwnTitle: f.Title, FeedTitle: src.About.Title,
		Categories: append([]string{}, f.Categories...), Interval: int64(f.Interval / time.Second), ListID: f.ListID, Private: src.Private(), FullText: f.FullText,
		Description: src.About.Description, Home: src.About.Home, Icon: src.About.Icon, Language: src.About.Language, Format: src.About.Format,
		Repaired: src.About.Problem, Failures: st.Failures,
		AddedAt: milli(f.AddedAt), CheckedAt: when(st.CheckedAt), ChangedAt: when(st.ChangedAt), NewestAt: when(src.NewestAt),
		Items: src.Items, Readers: src.Readers,
	}
	out.NextAt, out.Why, out.Reading = when(f.Next.At), f.Next.Why, f.Next.State == river.NextRunning
	if src.Private() {
		// Never return the secret, not even to the user who provided it.
		out.Login = &client.Login{Kind: src.Login.Kind, Name: src.Login.Name}
	}
	if n := len(st.Moves); n > 0 {
		m := st.Moves[n-1]
		out.Moved = &client.Move{From: m.From, To: m.To, At: milli(m.At), Why: m.Why}
	}
	if p := st.Push; !p.Since.IsZero() && !st.CheckedAt.IsZero() {
		out.Push = p.Live(st.CheckedAt)
	}
	out.State, out.Problem = conditionOf(src)
	if unread {
		out.Unread = &f.Unread
	}
	return out
}

// conditionOf returns the state of a source and its problem.
func conditionOf(src *river.Source) (state, problem string) {
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

func itemOf(e *river.Entry) client.Item {
	e.ShowFull()
	return client.Item{
		ID: e.ID, Seq: e.Seq, At: milli(e.At), ReadAt: milli(e.ReadAt), EditedAt: when(e.EditedAt), WithdrawnAt: when(e.WithdrawnAt), GUID: e.GUID,
		Content: contentOf(&e.Content), Read: e.Read, FullText: e.Full.HTML != "", Starred: e.Starred, StarredAt: when(e.StarredAt),
		Source: client.ItemSource{ID: e.Source.ID, Title: e.Source.Title, URL: e.Source.URL, Home: e.Source.Home, Icon: e.Source.Icon,
			Categories: append([]string{}, e.Source.Categories...), Private: e.Source.Private},
	}
}

func contentOf(in *river.Content) client.Content {
	out := client.Content{
		Title: in.Title, Link: in.Link, HTML: in.HTML, Text: in.Text, Language: in.Language, Published: when(in.Published), Updated: when(in.Updated),
		Authors: in.Authors, Categories: in.Categories, Image: in.Image, Comments: in.Comments, InReplyTo: in.InReplyTo, Via: in.Via, More: in.More,
	}
	for _, e := range in.Enclosures {
		out.Enclosures = append(out.Enclosures, client.Enclosure{URL: e.URL, Type: e.Type, Length: e.Length, Duration: e.Duration, Title: e.Title})
	}
	for i := range in.Nested {
		out.Nested = append(out.Nested, contentOf(&in.Nested[i]))
	}
	return out
}

func explanationOf(f *river.Followed, e *river.Explanation) client.Explanation {
	next := *f
	next.Next = e.Next
	out := client.Explanation{
		Source: sourceOf(&next, false), Sentence: e.Sentence, Trust: e.Trust, Notes: append([]string{}, e.Notes...),
		Considered: make([]client.Consideration, len(e.Decision.Considered)), Checks: make([]client.Check, len(e.Checks)),
		Push: make([]client.PushState, len(e.Push)),
	}
	for i, c := range e.Decision.Considered {
		out.Considered[i] = client.Consideration{Rule: string(c.Rule), Value: c.Value, Text: c.Text, Until: when(c.Until), Effect: string(c.Effect), Note: c.Note}
	}
	for i := range e.Checks {
		out.Checks[i] = checkOf(&e.Checks[i])
	}
	for i, p := range e.Push {
		out.Push[i] = client.PushState{Protocol: p.Protocol, Hub: p.Hub, Wire: p.Wire, Own: p.Own, State: p.State, Since: when(p.Since), Until: when(p.Until),
			PushedAt: when(p.PushedAt), Rejected: p.Rejected, LastError: p.LastError}
	}
	return out
}

func checkOf(c *river.Check) client.Check {
	out := client.Check{
		At: milli(c.At), TookMS: float64(c.Took) / float64(time.Millisecond), Cause: cmp.Or(string(c.Cause), "due"), Via: c.Via, Asked: c.Asked, AskedWhy: c.AskedWhy, URL: c.URL, Status: c.Status,
		Outcome: string(c.Outcome), Text: c.Text, Next: when(c.Next), Why: c.Why, New: c.New, Edited: c.Edited, Withdrawn: c.Withdrawn, Bytes: c.Bytes,
		Sent: c.Sent, Received: c.Received,
	}
	for _, h := range c.Hops {
		out.Hops = append(out.Hops, client.Hop{Status: h.Status, From: h.From, To: h.To, Document: h.Document})
	}
	return out
}

func importedOf(r *river.Imported) client.ImportedOPML {
	return client.ImportedOPML{Title: r.Title, Found: r.Found, Added: r.Added, Existing: r.Had, OverLimit: r.Over, Limit: r.Limit, Lists: r.Lists, Skipped: r.Skipped, Problems: r.Problems}
}

// forwardingOf omits the secret.
func forwardingOf(n *forward.Forwarding) client.Forwarding {
	return client.Forwarding{
		ID: n.ID, SourceID: n.SourceID, Category: n.Category, Via: n.Via, Target: n.Target, Signed: n.Secret != "", Paused: n.Paused,
		CreatedAt: milli(n.CreatedAt), Sent: n.Sent, LastAt: when(n.LastAt), Failures: n.Failures, Problem: n.Problem,
		State: n.State, AskedAt: when(n.AskedAt), DecidedAt: when(n.DecidedAt),
	}
}

func riverLiveOf(l river.Live) *client.RiverLive {
	return &client.RiverLive{Reading: l.Reading, Waiting: l.Waiting, Listening: l.Listening, Checks: l.Checks, Unchanged: l.Unchanged, Failed: l.Failed,
		Delivered: l.Delivered, New: l.New, Edited: l.Edited, Withdrawn: l.Withdrawn}
}

func riverCountsOf(n river.SourceCounts) *client.RiverCounts {
	return &client.RiverCounts{Sources: n.Sources, Followed: n.Followed, Due: n.Due, Failing: n.Failing, Gone: n.Gone, Pushed: n.Pushed, Items: n.Items,
		Subscriptions: n.Subscriptions, Readers: n.Readers}
}
