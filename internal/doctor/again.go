package doctor

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"cloudburst/feed"
)

// again reads the feed twice more: hubs take other bytes for a change.
func (x *exam) again(ctx context.Context) bool {
	x.second = x.get(ctx, x.first.url, how{most: maxBody})
	x.plain = x.get(ctx, x.first.url, how{most: maxBody, plain: true})
	for _, a := range []*answer{&x.second, &x.plain} {
		if !a.ok() {
			x.add(SubjectFeed, "feed-again", Warning, "Read a moment later, it could not be: "+a.outcome()+".",
				"A server that answers now and then loses changes: see why, such as a limit of requests that also meets hubs.")
			return true
		}
	}
	other := &x.second
	if bytes.Equal(x.first.body, other.body) {
		other = &x.plain
	}
	if bytes.Equal(x.first.body, other.body) {
		x.add(SubjectFeed, "same-bytes", OK, "Three readings give the same bytes.", "")
		return true
	}
	x.differ(other)
	return true
}

// differ says what is different in two readings.
func (x *exam) differ(other *answer) {
	if f, err := feed.ParseBytes(other.body, &feed.Options{URL: other.url, Header: other.header}); err == nil && !slices.Equal(ids(x.doc), ids(f)) {
		x.add(SubjectFeed, "same-bytes", Note, "Its items changed between two readings: examine it again when it is quiet.", "")
		return
	}
	x.restless = true
	text := "Two readings within a moment are not the same, so every ping and every check is a change to hubs, which then deliver it to everybody."
	for _, d := range differences(&x.first, other) {
		text += " " + d
	}
	x.add(SubjectFeed, "same-bytes", Warning, text,
		"Write into the feed only what changes with its items: no time of the request, no counter, no advertisement that is drawn anew.")
}

func ids(f *feed.Feed) []string {
	out := make([]string, len(f.Items))
	for i := range f.Items {
		out[i] = f.Items[i].ID
	}
	return out
}

// maxDifferences is how many are told.
const maxDifferences = 3

// differences are sentences on what is in one and not in the other.
func differences(a, b *answer) []string {
	was, is := leaves(a), leaves(b)
	var out []string
	values := make(map[string]string, len(is))
	for _, l := range is {
		values[l.path] = l.value
	}
	for _, l := range was {
		value, ok := values[l.path]
		delete(values, l.path)
		switch {
		case len(out) == maxDifferences || ok && value == l.value:
		case ok:
			out = append(out, fmt.Sprintf("%s was %s and is %s.", l.path, quote(around(l.value, value)), quote(around(value, l.value))))
		default:
			out = append(out, fmt.Sprintf("%s is gone.", l.path))
		}
	}
	for _, l := range is {
		if _, ok := values[l.path]; ok && len(out) < maxDifferences {
			out = append(out, fmt.Sprintf("%s is new.", l.path))
		}
	}
	if len(out) == 0 {
		return []string{inBytes(a.body, b.body)}
	}
	return out
}

// shown is how many letters around a difference are shown.
const shown = 60

// around is the part of s that begins shortly before it differs from t.
func around(s, t string) string {
	i := 0
	for i < len(s) && i < len(t) && s[i] == t[i] {
		i++
	}
	if len(s) <= shown || i < shown/2 {
		return short(s, shown)
	}
	return "…" + short(string([]rune(validUTF8(s[i-shown/3:]))), shown)
}

// inBytes is for what stands in no element, such as a comment.
func inBytes(a, b []byte) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	line := bytes.Count(a[:i], []byte("\n")) + 1
	return fmt.Sprintf("They differ in line %d: %s became %s.", line, quote(around(lineAt(a, i), lineAt(b, i))), quote(around(lineAt(b, i), lineAt(a, i))))
}

// lineAt is the line around an offset, at most so much of it as is looked at.
func lineAt(doc []byte, at int) string {
	const most = 200
	from := max(bytes.LastIndexByte(doc[:at], '\n')+1, at-most)
	to := len(doc)
	if i := bytes.IndexByte(doc[at:], '\n'); i >= 0 {
		to = at + i
	}
	return validUTF8(string(doc[from:min(to, at+most)]))
}
