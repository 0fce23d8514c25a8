package feed

import (
	"regexp"
	"strconv"
	"strings"
)

// enclosure reads the enclosure of RSS. The number of bytes is in length, or in the attribute
// size that some authors use.
//
// spec:datafeeds-2006#enclosure
func (p *parser) enclosure(s *slots) {
	at := p.r.Offset()
	e := Enclosure{URL: p.attr("url"), Type: strings.TrimSpace(unfolded(p.attr("type"))), Title: p.attr("title")}
	if e.URL == "" {
		e.URL = p.hrefAttr()
	}
	size := p.attr("length")
	if size == "" {
		size = p.attr("size")
	}
	if e.URL = strings.TrimSpace(e.URL); e.URL != "" {
		p.empty()
	} else if n, ok := p.node(); n.Text != "" {
		e.URL = n.Text
	} else if p.problem(ProblemMissing, at, "An enclosure has no url."); ok {
		*s.unknown = append(*s.unknown, n)
		return
	} else {
		return
	}
	e.URL = p.url(e.URL)
	if s.level != ofItem { // the enclosures of the feed itself are stored as links
		*s.links = p.links.add(*s.links, Link{Rel: "enclosure", Href: e.URL, Type: e.Type, Title: e.Title, Length: size})
		return
	}
	e.Length = p.count(size, at, "length")
	p.addEnclosure(e)
}

func (p *parser) addEnclosure(e Enclosure) {
	p.item.Enclosures = p.files.add(p.item.Enclosures, e)
}

// count parses a number that is not negative. It returns 0 for any other text.
func (p *parser) count(s string, at int, what string) int64 {
	if s = strings.TrimSpace(s); s == "" {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		n, err = strconv.ParseInt(ungrouped(s), 10, 64)
	}
	if err != nil || n < 0 {
		p.problem(ProblemValue, at, "This "+what+" is not a number: "+quote(s)+".")
		return 0
	}
	return n
}

var grouped = regexp.MustCompile(`^(\d{1,3}(?:[,. ]\d{3})+|\d+)(?:[.,]0*)?$`)

// ungrouped returns a number without the separators of thousands, which separate groups of three
// digits, and without a fraction of zeros. It returns any other text unchanged.
func ungrouped(s string) string {
	if m := grouped.FindStringSubmatch(s); m != nil {
		return strings.NewReplacer(",", "", ".", "", " ", "").Replace(m[1])
	}
	return s
}
