package weblogs

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cloudburst/protocol/xmlrpc"
)

// ParsePing parses the parameters of weblogUpdates.ping: name, url and, by convention, the
// changed page and a category. Values of other types than string are converted by
// [xmlrpc.String]. The error is a [*FieldError].
//
// spec:feedstate-2007#ping-simple
func ParsePing(params []any) (Ping, error) {
	texts, err := textsOf(MethodPing, params, 2, 4)
	if err != nil {
		return Ping{}, err
	}
	p := Ping{Name: line(texts[0]), URL: texts[1]}
	if len(texts) > 2 {
		p.ChangesURL = texts[2]
	}
	if len(texts) > 3 {
		p.Tags = ParseTags(texts[3])
	}
	return checked(p)
}

// ParseExtended parses the parameters of weblogUpdates.extendedPing: name, url, the changed page,
// the feed and optionally the tags. If there are three parameters, the third is the feed. If there
// are two, they are those of a simple ping. The error is a [*FieldError].
//
// spec:feedstate-2007#ping-extended
// spec:cloudburst#weblogs-three
func ParseExtended(params []any) (Ping, error) {
	texts, err := textsOf(MethodExtendedPing, params, 2, 5)
	if err != nil {
		return Ping{}, err
	}
	p := Ping{Name: line(texts[0]), URL: texts[1]}
	switch len(texts) {
	case 3:
		p.FeedURL = texts[2]
	case 4, 5:
		p.ChangesURL, p.FeedURL = texts[2], texts[3]
	}
	if len(texts) == 5 {
		p.Tags = ParseTags(texts[4])
	}
	return checked(p)
}

// ParseTags splits a list of tags at each |. Empty tags, duplicates, tags longer than
// [MaxTag] and tags after the first [MaxTags] are left out.
func ParseTags(s string) []string {
	var tags []string
	for tag := range strings.SplitSeq(s, "|") {
		tag = line(tag)
		if tag == "" || utf8.RuneCountInString(tag) > MaxTag || strings.ContainsFunc(tag, unicode.IsControl) || slices.Contains(tags, tag) {
			continue
		}
		if tags = append(tags, tag); len(tags) == MaxTags {
			break
		}
	}
	return tags
}

// Params returns the parameters of weblogUpdates.ping for p. The tags become the category.
func (p Ping) Params() []any {
	out := []any{p.Name, p.URL}
	if p.ChangesURL != "" || len(p.Tags) > 0 {
		out = append(out, p.changed())
	}
	if len(p.Tags) > 0 {
		out = append(out, strings.Join(p.Tags, "|"))
	}
	return out
}

// ExtendedParams returns the parameters of weblogUpdates.extendedPing for p. If p has no feed, they
// are the parameters of a simple ping without the changed page.
func (p Ping) ExtendedParams() []any {
	out := []any{p.Name, p.URL}
	if p.FeedURL == "" {
		return out
	}
	out = append(out, p.changed(), p.FeedURL)
	if len(p.Tags) > 0 {
		out = append(out, strings.Join(p.Tags, "|"))
	}
	return out
}

// changed returns the changed page, or the home page if there is none.
func (p Ping) changed() string {
	return cmp.Or(p.ChangesURL, p.URL)
}

func checked(p Ping) (Ping, error) {
	if err := p.Check(); err != nil {
		return Ping{}, err
	}
	return p, nil
}

// textsOf returns the parameters as trimmed strings. A nil parameter becomes "".
func textsOf(method string, params []any, minCount, maxCount int) ([]string, error) {
	if len(params) < minCount || len(params) > maxCount {
		return nil, fieldErr("", "%s takes %d to %d parameters, starting with name and url, not %d.", method, minCount, maxCount, len(params))
	}
	texts := make([]string, len(params))
	for i, p := range params {
		if p == nil {
			continue
		}
		s, ok := xmlrpc.String(p)
		if !ok {
			return nil, fieldErr("", "Parameter %d of %s is not a string.", i+1, method)
		}
		texts[i] = strings.TrimSpace(s)
	}
	return texts, nil
}

// line returns a text as one line, with each run of white space replaced by one space.
func line(s string) string { return strings.Join(strings.Fields(s), " ") }

// Methods returns weblogUpdates.ping and weblogUpdates.extendedPing for an
// [xmlrpc.Handler]. A refusal is a response with flerror, never a fault.
func Methods(b Backend) []xmlrpc.Method {
	const answer = " The response is a struct of flerror, which is true if the ping was refused, and message, which states the reason."
	return []xmlrpc.Method{
		{
			Name: MethodPing, Help: "Announces that a site changed: name, url and optionally the page that changed and a category." + answer,
			Signature: [][]string{{"struct", "string", "string"}, {"struct", "string", "string", "string"}, {"struct", "string", "string", "string", "string"}},
			Do:        method(b, InterfacePing, ParsePing),
		},
		{
			Name: MethodExtendedPing, Help: "Announces that a site changed: name, url, the page that changed, the feed and optionally tags with | between them; of three parameters the last is the feed." + answer,
			Signature: [][]string{{"struct", "string", "string", "string", "string"}, {"struct", "string", "string", "string", "string", "string"}, {"struct", "string", "string", "string"}, {"struct", "string", "string"}},
			Do:        method(b, InterfaceExtended, ParseExtended),
		},
	}
}

// spec:feedstate-2007#ping-response
// spec:cloudburst#weblogs-no-faults
func method(b Backend, via Interface, parse func([]any) (Ping, error)) func(context.Context, []any) (any, error) {
	return func(ctx context.Context, params []any) (any, error) {
		p, err := parse(params)
		if err == nil {
			err = b.Ping(ctx, via, p)
		}
		return ResultOf(err).Value(), nil
	}
}
