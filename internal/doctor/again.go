package doctor

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"cloudburst/feed"
)

// again fetches the feed two more times and compares the responses. Hubs treat different bytes as a
// change, so an unchanged feed should always have the same bytes.
func (x *exam) again(ctx context.Context) bool {
	x.second = x.get(ctx, x.first.url, how{limit: maxBody})
	x.plain = x.get(ctx, x.first.url, how{limit: maxBody, plain: true})
	for _, a := range []*answer{&x.second, &x.plain} {
		if !a.ok() {
			x.add(SubjectFeed, "feed-again", Warning, "A second request failed: "+a.outcome()+".",
				"A server that fails from time to time loses changes. Find the reason, such as a request limit that also affects hubs.")
			return true
		}
	}
	other := &x.second
	if bytes.Equal(x.first.body, other.body) {
		other = &x.plain
	}
	if bytes.Equal(x.first.body, other.body) {
		x.add(SubjectFeed, "same-bytes", OK, "Three requests return the same bytes.", "")
		return true
	}
	x.differ(other)
	return true
}

// differ reports the differences of two responses.
func (x *exam) differ(other *answer) {
	if f, err := feed.ParseBytes(other.body, &feed.Options{URL: other.url, Header: other.header}); err == nil && !slices.Equal(ids(x.doc), ids(f)) {
		x.add(SubjectFeed, "same-bytes", Note, "Its items changed between two requests. Examine it again later.", "")
		return
	}
	x.unstable = true
	text := "Two requests in a row return different bytes. Hubs treat every ping and every check as a change and notify all subscribers."
	for _, d := range differences(&x.first, other) {
		text += " " + d
	}
	x.add(SubjectFeed, "same-bytes", Warning, text,
		"Write only data into the feed that changes with its items: no request time, no counter, no random advertisement.")
}

func ids(f *feed.Feed) []string {
	out := make([]string, len(f.Items))
	for i := range f.Items {
		out[i] = f.Items[i].ID
	}
	return out
}

// maxDifferences limits the reported differences.
const maxDifferences = 3

// differences returns sentences about the differences between two responses.
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

// shown is the number of characters to show around a difference.
const shown = 60

// around returns a part of s that begins shortly before the first difference between s and t.
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

// inBytes describes a difference outside the elements, such as in a comment.
func inBytes(a, b []byte) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	line := bytes.Count(a[:i], []byte("\n")) + 1
	return fmt.Sprintf("They differ in line %d: %s became %s.", line, quote(around(lineAt(a, i), lineAt(b, i))), quote(around(lineAt(b, i), lineAt(a, i))))
}

// lineAt returns the line around an offset, shortened to limit bytes on both sides.
func lineAt(doc []byte, at int) string {
	const limit = 200
	from := max(bytes.LastIndexByte(doc[:at], '\n')+1, at-limit)
	to := len(doc)
	if i := bytes.IndexByte(doc[at:], '\n'); i >= 0 {
		to = at + i
	}
	return validUTF8(string(doc[from:min(to, at+limit)]))
}
