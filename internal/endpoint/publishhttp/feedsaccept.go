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

// offer is a format of a feed that Accept can select.
type offer struct {
	format string // name of the format; "": as saved
	kind   string // media type in lowercase, without parameters
}

// maxAccept is the maximum length of the header Accept in bytes. It limits the work, because each
// format scans the header once.
const maxAccept = 4096

// negotiate returns the format that the client prefers. If the client prefers several formats
// equally, the saved document comes first, then the feed formats.
//
// spec:cloudburst#hosted-accept
func negotiate(r *http.Request, now author.Feed) (string, error) {
	lists := r.Header.Values("Accept")
	if strings.Trim(strings.Join(lists, ""), " ,") == "" { // an empty header states no preference
		return "", nil
	}
	all := 0
	for _, list := range lists {
		if all += len(list); all > maxAccept {
			return "", endpoint.WithStatus(http.StatusBadRequest, fault.New(fault.Invalid, "Accept is longer than %d bytes.", maxAccept))
		}
	}
	offers := offersOf(kindOf(now.Type))
	best, limit := -1, 0
	for i, o := range offers {
		if q := quality(lists, o.kind); q > limit {
			best, limit = i, q
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

// offersOf lists the formats of a feed whose saved document has the given media type.
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

// kindOf returns a Content-Type without parameters, in lowercase.
func kindOf(contentType string) string {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// quality returns the weight of a media type in Accept, from 0 to 1000. The most specific matching
// range determines the weight. Parameters other than q are ignored.
func quality(lists []string, kind string) int {
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
