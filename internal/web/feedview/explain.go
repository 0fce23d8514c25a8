package feedview

import (
	"html"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/river"
	"cloudburst/internal/upstream"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

// Explanation explains the schedule of a feed.
type Explanation struct {
	Notes      []string
	Considered []considered
	Checks     []checkRow
	Chart      template.HTML // chart of the last checks; "": there are too few checks
	Push       []pushRow
	Trust      string
}

// considered is one reason that influences the time of the next check.
type considered struct {
	Rule, Value, Text string
	Effect            string
	Decides           bool
	Until             shell.Moment
	Note              string
}

// checkRow is one check and its result.
type checkRow struct {
	At        shell.Moment
	Badge     Badge
	Text      string
	Took      string
	Cause     string
	Asked     string // kind of the request, conditional or full, and its reason
	Status    string
	Items     string // new and changed items
	Bytes     string
	Next, Why string
	Sent      string
	Received  string
	Hops      []string
}

// pushRow is the state of a subscription at a hub.
type pushRow struct {
	Protocol, Hub string
	Badge         Badge
	Own           bool
	Words         string
	Since, Until  shell.Moment
	PushedAt      shell.Moment
	Rejected      int64
	Error         string
}

// Explain converts an explanation to texts for a page.
func Explain(e river.Explanation, now time.Time, l *locale.Locale) Explanation {
	v := Explanation{Trust: shell.Sentence(e.Trust)}
	for _, n := range e.Notes[:min(len(e.Notes), 20)] {
		v.Notes = append(v.Notes, shell.Sentence(n))
	}
	for _, c := range e.Decision.Considered[:min(len(e.Decision.Considered), 30)] {
		v.Considered = append(v.Considered, considered{shell.CleanText(string(c.Rule), 40), shell.CleanText(c.Value, 200), shell.CleanText(c.Text, 300),
			effectWords(c.Effect), c.Effect == polling.Decides, shell.NewMoment(now, c.Until), shell.CleanText(c.Note, 200)})
	}
	for i := range e.Checks[:min(len(e.Checks), river.KeptChecks)] {
		v.Checks = append(v.Checks, checkOf(&e.Checks[i], now))
	}
	v.Chart = checksChart(e.Checks, e.Source.NextAt, now, l)
	for _, p := range e.Push[:min(len(e.Push), 20)] {
		v.Push = append(v.Push, pushOf(p, now))
	}
	return v
}

func effectWords(e polling.Effect) string {
	switch e {
	case polling.Decides:
		return "decides"
	case polling.Allows:
		return "would allow it earlier"
	case polling.Moves:
		return "delays it"
	case polling.Bounds:
		return "limits it"
	case polling.Ignored:
		return "ignored"
	case polling.Overrode:
		return "a stronger rule applies"
	}
	return shell.CleanText(string(e), 40)
}

// causeWords describes the cause of a check. Only a notification of a hub is described as a push.
func causeWords(c river.Check) string {
	switch c.Cause {
	case polling.Poll:
		return "it was due"
	case polling.Pushed:
		switch c.Via {
		case upstream.ViaRSSCloud, upstream.ViaWebSub, upstream.ViaCNWS:
			return "its hub pushed a change, by " + protocolName(strings.TrimPrefix(c.Via, "notify-"))
		case river.Away:
			return "this server was offline, and may have missed a change"
		case "save":
			return "its author saved it on this server"
		case "test":
			return "the test feed of this server changed"
		case "":
			return "a change was announced"
		}
		return "a ping to this server announced a change (" + shell.CleanText(c.Via, 40) + ")"
	case polling.Delivered:
		return "its hub delivered the content"
	case polling.ByHand:
		return "you or another user requested it"
	case polling.FollowUp:
		return "a follow-up that verifies an announced change"
	}
	return shell.CleanText(string(c.Cause), 40)
}

// askedWords describes the request of a check; "" if there was none.
func askedWords(c *river.Check) string {
	switch {
	case c.Asked == river.AskedConditionally:
		return "conditionally: only for a document that has changed"
	case c.Asked == river.AskedInFull && c.AskedWhy != "":
		return "in full: " + shell.CleanText(c.AskedWhy, 200)
	case c.Asked == river.AskedInFull:
		return "in full"
	}
	return ""
}

// outcomeBadge returns the badge of an outcome.
func outcomeBadge(c *river.Check) Badge {
	switch c.Outcome {
	case polling.Changed:
		return Badge{"changed", BadgeGood}
	case polling.Unchanged:
		return Badge{"same", ""}
	case polling.Failed:
		return Badge{"failed", BadgeBad}
	case polling.IsGone:
		return Badge{"gone", BadgeBad}
	case polling.Redirected:
		return Badge{"redirected", BadgeWarn}
	case polling.Postponed:
		return Badge{"postponed", BadgeWarn}
	case polling.Doubtful:
		return Badge{"doubtful", BadgeWarn}
	}
	return Badge{shell.CleanText(string(c.Outcome), 20), ""}
}

func checkOf(c *river.Check, now time.Time) checkRow {
	row := checkRow{At: shell.NewMoment(now, c.At), Badge: outcomeBadge(c), Text: shell.Sentence(c.Text), Took: shell.FormatDuration(c.Took), Cause: causeWords(*c), Asked: askedWords(c), Why: shell.CleanText(c.Why, 400),
		Sent: wireText(c.Sent), Received: wireText(c.Received), Items: itemWords(c)}
	if c.Status > 0 {
		row.Status = strings.TrimSpace(strconv.Itoa(c.Status) + " " + http.StatusText(c.Status))
	}
	if c.Bytes > 0 {
		row.Bytes = shell.FormatCount(c.Bytes) + " bytes"
	}
	if !c.Next.IsZero() {
		row.Next = hour(c.Next, c.At)
	}
	for _, h := range c.Hops[:min(len(c.Hops), 10)] {
		what := strconv.Itoa(h.Status)
		if h.Document {
			if what = "redirect document"; h.Status == http.StatusFound {
				what = "page"
			}
		}
		row.Hops = append(row.Hops, what+" to "+shell.CleanText(WithoutUser(h.To), 300))
	}
	return row
}

// itemWords describes new and changed items: "3 new, 1 edited".
func itemWords(c *river.Check) string {
	var words []string
	for _, w := range []struct {
		n    int
		word string
	}{{c.New, "new"}, {c.Edited, "edited"}, {c.Withdrawn, "withdrawn"}} {
		if w.n > 0 {
			words = append(words, shell.FormatCount(w.n)+" "+w.word)
		}
	}
	return strings.Join(words, ", ")
}

// wireText cleans a message of a protocol, such as a request, and keeps its line breaks.
func wireText(s string) string {
	const longest = 8 << 10
	var b strings.Builder
	for line := range strings.Lines(s) {
		if b.Len() > longest {
			b.WriteString("…")
			break
		}
		b.WriteString(shell.CleanText(strings.TrimRight(line, "\r\n"), 2000))
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

func protocolName(p string) string {
	switch p {
	case upstream.RSSCloud:
		return "rssCloud"
	case upstream.WebSub:
		return "WebSub"
	case upstream.CNWS:
		return "Cloud Notification Web Service (CNWS)"
	}
	return shell.CleanText(p, 40)
}

func pushOf(p river.PushState, now time.Time) pushRow {
	row := pushRow{Protocol: protocolName(p.Protocol), Hub: shell.HostOf(p.Hub), Own: p.Own, Since: shell.NewMoment(now, p.Since), Until: shell.NewMoment(now, p.Until), PushedAt: shell.NewMoment(now, p.PushedAt),
		Rejected: p.Rejected, Error: shell.Sentence(p.LastError)}
	switch {
	case p.Own:
		row.Badge, row.Words = Badge{"live", BadgeGood}, "The hub is this server: changes arrive without the network."
	case p.State == upstream.Active:
		row.Badge, row.Words = Badge{"live", BadgeGood}, "The hub confirmed the subscription and pushes changes."
	case p.State == upstream.Pending:
		row.Badge, row.Words = Badge{"asked", BadgeWarn}, "The subscription is requested, not confirmed yet."
	case p.State == upstream.Refused:
		row.Badge, row.Words = Badge{"refused", BadgeBad}, "The hub refused the subscription."
	case p.State == upstream.Lost:
		row.Badge, row.Words = Badge{"ended", BadgeBad}, "The hub ended the subscription."
	case p.State == upstream.Ending:
		row.Badge, row.Words = Badge{"ending", ""}, "The subscription is being cancelled."
	default:
		row.Badge = Badge{shell.CleanText(p.State, 40), ""}
	}
	return row
}

// LastMove returns the last move of a feed to another URL.
func LastMove(f *river.Source) (polling.Move, bool) {
	if len(f.State.Moves) == 0 {
		return polling.Move{}, false
	}
	return f.State.Moves[len(f.State.Moves)-1], true
}

// MoveWords describes how a move was found.
func MoveWords(why string) string {
	switch why {
	case "301", "308":
		return "its server redirected (" + why + ") at least " + strconv.Itoa(polling.MoveSightings) + " times over a day"
	case "redirect":
		return "a document at its address declared the move"
	case "itunes:new-feed-url":
		return "the feed itself declared the move (itunes:new-feed-url)"
	}
	return shell.CleanText(why, 60)
}

// Dimensions of the chart of the last checks.
const (
	checksWidth      = 680.0
	checksLeft       = 8.0
	checksRight      = 672.0
	checksLine       = 46.0
	checksLabelWidth = 120.0 // width that a label needs on a phone
)

// checksChart draws the last checks of a feed, their outcomes, and the next check. The shape of a
// mark, not its colour, shows its meaning.
func checksChart(checks []river.Check, next, now time.Time, l *locale.Locale) template.HTML {
	if len(checks) > river.KeptChecks {
		checks = checks[:river.KeptChecks]
	}
	if len(checks) < 2 {
		return ""
	}
	from, to := checks[len(checks)-1].At, now
	if next.After(to) && next.Sub(to) < 4*now.Sub(from)+time.Hour {
		to = next
	} else {
		next = time.Time{}
	}
	if !to.After(from) {
		return ""
	}
	x := func(t time.Time) float64 {
		part := float64(t.Sub(from)) / float64(to.Sub(from))
		return checksLeft + 8 + (checksRight-checksLeft-16)*min(max(part, 0), 1)
	}
	var b strings.Builder
	b.WriteString(`<svg class="chart checks" viewBox="0 0 680 78" role="img" aria-labelledby="checks-t checks-d"><title id="checks-t">` + html.EscapeString(l.Words("The last checks")) + `</title><desc id="checks-d">`)
	b.WriteString(html.EscapeString(checksWords(checks, next, now, l)) + `</desc>`)
	shell.DrawLine(&b, "axis", checksLeft, checksLine, checksRight, checksLine)
	for i := len(checks) - 1; i >= 0; i-- {
		checkMark(&b, &checks[i], x(checks[i].At))
	}
	if at := x(now); !next.IsZero() {
		shell.DrawLine(&b, "grid", at, 14, at, checksLine+8)
		right := x(next)
		if at > checksLabelWidth && right-at > checksLabelWidth {
			shell.DrawLabel(&b, anchorOf(at), at, checksLine+24, l.Words("now"))
		}
		shell.DrawLabel(&b, anchorOf(right), right, checksLine+24, l.Words("next check"))
		b.WriteString(`<path class="next" d="M` + shell.FormatNumber(x(next)-5) + " " + shell.FormatNumber(checksLine-6) + "l10 6-10 6z" + `"/>`)
	}
	shell.DrawLabel(&b, "start", checksLeft, checksLine+24, l.Relative(now, from))
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) // EscapeString has escaped every text above
}

func anchorOf(x float64) string {
	switch {
	case x > checksWidth*0.85:
		return "end"
	case x < checksWidth*0.1:
		return "start"
	}
	return "middle"
}

func checkMark(b *strings.Builder, c *river.Check, x float64) {
	at := shell.FormatNumber(x)
	switch c.Outcome {
	case polling.Changed:
		h := min(float64(c.New+c.Edited), 10)*3 + 4
		b.WriteString(`<rect class="s1" x="` + shell.FormatNumber(x-3) + `" y="` + shell.FormatNumber(checksLine-h) + `" width="6" height="` + shell.FormatNumber(h) + `"/>`)
	case polling.Unchanged:
		b.WriteString(`<circle class="same" cx="` + at + `" cy="` + shell.FormatNumber(checksLine) + `" r="3.4"/>`)
	default:
		b.WriteString(`<path class="cross" d="M` + shell.FormatNumber(x-4) + " " + shell.FormatNumber(checksLine-4) + "l8 8m0-8-8 8" + `"/>`)
	}
}

// checksWords describes the chart in words.
func checksWords(checks []river.Check, next, now time.Time, l *locale.Locale) string {
	var changed, same, failed int
	for i := range checks {
		switch checks[i].Outcome {
		case polling.Changed:
			changed++
		case polling.Unchanged:
			same++
		default:
			failed++
		}
	}
	words := []string{l.Say("%d brought new items", changed), l.Say("%d found no change", same)}
	if failed > 0 {
		words = append(words, l.Say("%d failed", failed))
	}
	s := l.Say("The last %d checks since %s: %s.", len(checks), l.Relative(now, checks[len(checks)-1].At), l.Join(words))
	if !next.IsZero() {
		s += " " + l.Say("The next is %s.", l.Relative(now, next))
	}
	return s
}
