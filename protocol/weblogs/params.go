package weblogs

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cloudburst/protocol/xmlrpc"
)

// ParsePing reads the parameters of weblogUpdates.ping: name, url and, by custom,
// the page that changed and a category. Other types than strings are read as
// [xmlrpc.String] does. The error is a [*FieldError].
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

// ParseExtended reads the parameters of weblogUpdates.extendedPing: name, url, the
// page that changed, the feed and, if there are five, the tags. Of three the last
// is the feed; two are a simple ping. The error is a [*FieldError].
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

// ParseTags splits what stands between the | of a list of tags. Empty ones,
// repetitions and what is over [MaxTag] or [MaxTags] are left out.
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

// Params are the parameters of weblogUpdates.ping that say what p does; tags are
// the category.
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

// ExtendedParams are the parameters of weblogUpdates.extendedPing that say what p
// does. Without a feed they are those of a simple ping.
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

// changed is the page that changed: the home page when nothing else is told.
func (p Ping) changed() string {
	if p.ChangesURL != "" {
		return p.ChangesURL
	}
	return p.URL
}

func checked(p Ping) (Ping, error) {
	if err := p.Check(); err != nil {
		return Ping{}, err
	}
	return p, nil
}

// textsOf are the parameters without white space around them; a nil one is empty.
func textsOf(method string, params []any, least, most int) ([]string, error) {
	if len(params) < least || len(params) > most {
		return nil, fieldErr("", "%s takes %d to %d parameters, name and url first, and not %d.", method, least, most, len(params))
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

// line is a text on one line: every run of white space is one space.
func line(s string) string { return strings.Join(strings.Fields(s), " ") }

// Methods are weblogUpdates.ping and weblogUpdates.extendedPing for an
// [xmlrpc.Handler]. Every refusal is an answer with flerror, never a fault.
func Methods(b Backend) []xmlrpc.Method {
	const answer = " The answer is a struct of flerror, which is true when the ping was refused, and message, which says why."
	return []xmlrpc.Method{
		{
			Name: MethodPing, Help: "Says that a site changed: name, url and optionally the page that changed and a category." + answer,
			Signature: [][]string{{"struct", "string", "string"}, {"struct", "string", "string", "string"}, {"struct", "string", "string", "string", "string"}},
			Do:        method(b, InterfacePing, ParsePing),
		},
		{
			Name: MethodExtendedPing, Help: "Says that a site changed: name, url, the page that changed, the feed and optionally tags with | between them; of three parameters the last is the feed." + answer,
			Signature: [][]string{{"struct", "string", "string", "string", "string"}, {"struct", "string", "string", "string", "string", "string"}, {"struct", "string", "string", "string"}, {"struct", "string", "string"}},
			Do:        method(b, InterfaceExtended, ParseExtended),
		},
	}
}

// spec:feedstate-2007#ping-response
// spec:cloudburst#weblogs-no-faults
func method(b Backend, door Interface, parse func([]any) (Ping, error)) func(context.Context, []any) (any, error) {
	return func(ctx context.Context, params []any) (any, error) {
		p, err := parse(params)
		if err == nil {
			err = b.Ping(ctx, door, p)
		}
		return ResultOf(err).Value(), nil
	}
}
