package serve

import (
	"strconv"
	"strings"
)

// Tags of the readers' conditions are compared without W/: a reader who says that its
// copy is weak has got it through something that packed it, and holds it all the same.

// NextTag takes the first entity tag from a list as If-None-Match has it: tag is the
// tag with its quotes, or "*"; weak says that W/ stood before it; rest is what follows.
// tag is "" at the end. Tags that lost their quotes on the way get them back.
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
			// A comma may stand within the quotes.
			if end := strings.IndexByte(s[1:], '"'); end >= 0 {
				return s[:end+2], weak, s[end+2:]
			}
		}
		// Not as it should be: what stands before the comma.
		tag, list, _ = strings.Cut(s, ",")
		if tag = strings.Trim(tag, " \t"); tag != "" {
			return tag, weak, list
		}
	}
	return "", false, ""
}

// BaseTag is the tag of the document that a form's tag, with its quotes, belongs to.
func BaseTag(tag string) string {
	tag = strings.Trim(tag, `"`)
	if base, ok := strings.CutSuffix(tag, suffixGzip); ok {
		return base
	}
	return strings.TrimSuffix(tag, suffixBrotli)
}

// accept is what a reader thinks of each form, 0 to 1000; 0 is never.
type accept struct{ gzip, br, identity int }

// readAccept reads Accept-Encoding. Without one only the plain bytes are sure to be
// understood. The plain ones, where they are not named, are the last choice.
func readAccept(lists []string) accept {
	const unnamed, last = -1, 1
	a, others := accept{unnamed, unnamed, unnamed}, unnamed
	for _, list := range lists {
		if list == "gzip" { // what most readers send
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
	// A star stands for gzip, which all who say so understand, but not for brotli.
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

// Weight is what a list such as A-IM's gives to a name, 0 to 1000 (q=1). It is 0 for
// what is not named.
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

// next takes the first element from a list of names with weights. A weight that is no
// number from 0 to 1 is 0.
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

// thousandths reads a weight: at most 5 bytes of digits and a point, 0 to 1.
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
