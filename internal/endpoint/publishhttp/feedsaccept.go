package publishhttp

import (
	"net/http"
	"strings"

	"cloudburst/feed/render"
	"cloudburst/internal/author"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/serve"
)

// offer is a form of a feed that Accept may ask for.
type offer struct {
	format string // "": as it was saved
	kind   string // media type, in lower case and without parameters
}

// longestAccept is how long Accept may be: it is gone through once for each format.
const longestAccept = 4096

// negotiate finds the form that a reader prefers. Of those that it likes the same, the
// one as it was saved comes first, then the formats of feeds.
//
// spec:cloudburst#hosted-accept
func negotiate(r *http.Request, now author.Feed) (string, error) {
	lists := r.Header.Values("Accept")
	if strings.Trim(strings.Join(lists, ""), " ,") == "" { // an empty list asks for nothing
		return "", nil
	}
	all := 0
	for _, list := range lists {
		if all += len(list); all > longestAccept {
			return "", endpoint.WithStatus(http.StatusBadRequest, fault.New(fault.Invalid, "Accept is longer than %d bytes.", longestAccept))
		}
	}
	offers := offersOf(kindOf(now.Type))
	best, most := -1, 0
	for i, o := range offers {
		if q := liked(lists, o.kind); q > most {
			best, most = i, q
		}
	}
	if best >= 0 {
		return offers[best].format, nil
	}
	var kinds []string
	for _, o := range offers {
		kinds = append(kinds, o.kind)
	}
	return "", endpoint.WithStatus(http.StatusNotAcceptable, fault.New(fault.Unsupported,
		"Accept allows none of the types in which this feed is written: %s.", strings.Join(kinds, ", ")))
}

// offersOf are the forms of a feed whose document is of a kind.
func offersOf(saved string) []offer {
	xml := offer{"", "application/xml"}
	if saved == "application/feed+json" {
		xml.format = "rss20"
	}
	all := []offer{{"", saved}}
	add := func(o offer) {
		for _, have := range all {
			if have.kind == o.kind {
				return
			}
		}
		all = append(all, o)
	}
	add(offer{"rss20", "application/rss+xml"})
	add(offer{"atom", "application/atom+xml"})
	add(offer{"jsonfeed", "application/feed+json"})
	add(offer{"jsonfeed", "application/json"})
	add(xml)
	add(offer{xml.format, "text/xml"})
	add(offer{"html", "text/html"})
	add(offer{"text", "text/plain"})
	for _, f := range render.Formats() {
		if f.Ext != "" {
			add(offer{f.Name, kindOf(f.Type)})
		}
	}
	add(offer{"js", "application/javascript"})
	return all
}

// kindOf is a Content-Type without its parameters.
func kindOf(contentType string) string {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// liked is the weight, 0 to 1000, that Accept gives a type: that of the most exact range. Other
// parameters than q are passed over.
func liked(lists []string, kind string) int {
	q, exact := 0, 0
	major, _, _ := strings.Cut(kind, "/")
	for _, list := range lists {
		for part := range strings.SplitSeq(list, ",") {
			name, _, _ := strings.Cut(part, ";")
			name = strings.TrimSpace(name)
			how := 0
			switch {
			case strings.EqualFold(name, kind):
				how = 3
			case strings.HasSuffix(name, "/*") && strings.EqualFold(strings.TrimSuffix(name, "/*"), major):
				how = 2
			case name == "*/*", name == "*":
				how = 1
			}
			if how > exact {
				q, exact = serve.Weight([]string{part}, name), how
			}
		}
	}
	return q
}
