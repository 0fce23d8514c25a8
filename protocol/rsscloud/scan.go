package rsscloud

import (
	"strings"

	"cloudburst/internal/charset"
	"cloudburst/internal/scan"
)

// scanCloud calls use with the attributes (names in lowercase) of each <cloud> element
// outside an item, until use returns false. Broken markup before or after the element does
// not stop the scan.
func scanCloud(feed []byte, use func(attr map[string]string) bool) {
	r := scan.New(charset.Decode(feed, "").Text, scan.Options{})
	item := 0 // nesting depth of the open item element; 0: no item is open
	for {
		switch r.Next() {
		case scan.EOF:
			return
		case scan.End:
			if r.Depth() < item {
				item = 0
			}
		case scan.Start:
			switch {
			case item == 0 && (r.Local == "item" || r.Local == "entry"):
				item = r.Depth()
			case r.Local == "channel":
				item = 0
			case r.Local == "cloud" && item == 0:
				if attr := attributes(r); (attr["path"] != "" || attr["protocol"] != "") && !use(attr) {
					return
				}
			}
		}
	}
}

func attributes(r *scan.Reader) map[string]string {
	attr := make(map[string]string, len(r.Attrs))
	for i := range r.Attrs {
		name := strings.ToLower(r.Attrs[i].Name)
		if _, ok := attr[name]; !ok {
			attr[name] = strings.TrimSpace(r.Decode(r.Attrs[i].Raw))
		}
	}
	return attr
}
