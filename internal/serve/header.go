package serve

import (
	"strconv"
	"strings"
)

// Tags in conditions are compared without W/: a proxy that compressed the document may have
// weakened the tag, but the client still has the document.

// NextTag returns the first entity tag of a list as in If-None-Match: tag includes its quotes, or
// is "*"; weak reports a W/ prefix; rest is the remaining list. tag is "" at the end. Missing
// quotes are restored.
func NextTag(list string) (tag string, weak bool, rest string) {
	tag, weak, rest = nextTag(list)
	if quoted := len(tag) > 1 && tag[0] == '"' && tag[len(tag)-1] == '"'; tag != "" && tag != "*" && !quoted {
		tag = `"` + strings.Trim(tag, `"`) + `"`
	}
	return tag, weak, rest
}

func nextTag(list string) (tag string, weak bool, rest string) {
	for list != "" {
		s := strings.TrimLeft(list, ", \t")
		weak = strings.HasPrefix(s, "W/") || strings.HasPrefix(s, "w/")
		if weak {
			s = s[2:]
		}
		if s != "" && s[0] == '"' {
			// The quoted string may contain a comma.
			if end := strings.IndexByte(s[1:], '"'); end >= 0 {
				return s[:end+2], weak, s[end+2:]
			}
		}
		// The tag is malformed: use the text up to the comma.
		tag, list, _ = strings.Cut(s, ",")
		if tag = strings.Trim(tag, " \t"); tag != "" {
			return tag, weak, list
		}
	}
	return "", false, ""
}

// BaseTag returns the document's tag for the tag of a representation, which may have quotes.
func BaseTag(tag string) string {
	tag = strings.Trim(tag, `"`)
	if base, ok := strings.CutSuffix(tag, suffixGzip); ok {
		return base
	}
	return strings.TrimSuffix(tag, suffixBrotli)
}

// accept holds the weights of the codings, 0 to 1000; 0 means excluded.
type accept struct{ gzip, br, identity int }

// readAccept parses Accept-Encoding. Without the header only identity is acceptable. If identity is
// not listed, it is the last choice.
func readAccept(lists []string) accept {
	const unnamed, last = -1, 1
	a, others := accept{unnamed, unnamed, unnamed}, unnamed
	for _, list := range lists {
		if list == "gzip" { // fast path for the most common value
			a.gzip = 1000
			continue
		}
		for list != "" {
			var name string
			var q int
			name, q, list = next(list)
			switch {
			case strings.EqualFold(name, "gzip"), strings.EqualFold(name, "x-gzip"):
				a.gzip = max(a.gzip, q)
			case strings.EqualFold(name, "br"):
				a.br = max(a.br, q)
			case strings.EqualFold(name, "identity"):
				a.identity = max(a.identity, q)
			case name == "*":
				others = max(others, q)
			}
		}
	}
	// Clients that send "*" support gzip, but not always brotli.
	if a.gzip == unnamed {
		a.gzip = max(others, 0)
	}
	a.br = max(a.br, 0)
	switch {
	case a.identity == unnamed && others == 0:
		a.identity = 0
	case a.identity == unnamed:
		a.identity = last
	}
	return a
}

// Weight returns the weight of a name in a list such as A-IM, 0 to 1000 (q=1). It returns 0 for
// unlisted names.
func Weight(lists []string, name string) int {
	highest := 0
	for _, list := range lists {
		for list != "" {
			var n string
			var q int
			if n, q, list = next(list); strings.EqualFold(n, name) {
				highest = max(highest, q)
			}
		}
	}
	return highest
}

// next returns the first element of a list of names with weights. A weight that is not a number
// from 0 to 1 counts as 0 or is capped at 1000.
func next(list string) (name string, q int, rest string) {
	element, rest, _ := strings.Cut(list, ",")
	name, params, more := strings.Cut(element, ";")
	q = 1000
	for more {
		var p string
		p, params, more = strings.Cut(params, ";")
		key, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.Trim(key, " \t"), "q") {
			q = thousandths(strings.Trim(value, " \t"))
			break
		}
	}
	return strings.Trim(name, " \t"), q, rest
}

// thousandths parses a weight from 0 to 1 as thousandths. It ignores digits after the third
// decimal.
func thousandths(s string) int {
	whole, fraction, _ := strings.Cut(s, ".")
	if len(fraction) > 3 {
		fraction = fraction[:3]
	}
	n, err := strconv.ParseUint(whole, 10, 8)
	if err != nil || n > 1 {
		return 0
	}
	f := uint64(0)
	if fraction != "" {
		if f, err = strconv.ParseUint(fraction, 10, 16); err != nil {
			return 0
		}
		for range 3 - len(fraction) {
			f *= 10
		}
	}
	return int(min(n*1000+f, 1000))
}
