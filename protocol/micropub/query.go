package micropub

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/text"
)

// Config is what a server says of itself.
//
// spec:micropub-2017#query-config
type Config struct {
	MediaEndpoint string   `json:"media-endpoint,omitempty"`
	SyndicateTo   []Target `json:"syndicate-to"`
	// The rest is of extensions.
	PostTypes []PostType `json:"post-types,omitempty"`
	Q         []string   `json:"q,omitempty"`          // queries that are answered
	Channels  []Channel  `json:"channels,omitempty"`   //
	Visible   []string   `json:"visibility,omitempty"` // values that visibility may have
}

// Target is a place to which posts can be sent as well.
type Target struct {
	UID     string `json:"uid"`
	Name    string `json:"name"`
	Service *Party `json:"service,omitempty"`
	User    *Party `json:"user,omitempty"`
}

// Party is whom a target belongs to.
type Party struct {
	Name  string `json:"name,omitempty"`
	URL   string `json:"url,omitempty"`
	Photo string `json:"photo,omitempty"`
}

// PostType is a kind of post that programs may offer to write.
type PostType struct {
	Type       string   `json:"type"`                 // note, article, photo, reply …
	Name       string   `json:"name"`                 // for people
	Properties []string `json:"properties,omitempty"` // that it can have
}

// Channel is a part of a site.
type Channel struct {
	UID  string `json:"uid"`
	Name string `json:"name"`
}

// ListQuery asks for posts, or files, the newest first.
type ListQuery struct {
	Properties []string // of each; none: all
	PostStatus string   // "published" or "draft"; "": all
	Category   string   // "": any
	Limit      int      // 1 to 100
	Offset     int
}

// MediaFile is a file that was uploaded.
type MediaFile struct {
	URL       string    `json:"url"`
	Type      string    `json:"mime_type,omitempty"`
	Name      string    `json:"name,omitempty"`
	Size      int64     `json:"size,omitempty"` // bytes
	Published time.Time `json:"published,omitzero"`
}

// listQuery reads what a list is asked for.
func listQuery(v url.Values) (ListQuery, error) {
	q := ListQuery{Properties: names(v), PostStatus: v.Get("post-status"), Category: v.Get("category"), Limit: 20}
	for name, to := range map[string]*int{"limit": &q.Limit, "offset": &q.Offset} {
		value := v.Get(name)
		if value == "" {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n > 1_000_000 {
			return q, invalid("%s is %q: it needs a number.", name, text.Clip(value, 40))
		}
		*to = n
	}
	q.Limit = min(max(q.Limit, 1), maxListing)
	return q, nil
}

// names are the properties that a query asks for.
//
// spec:micropub-2017#query-source
func names(v url.Values) []string {
	var list []string
	for _, name := range slices.Concat(v["properties[]"], v["properties"]) {
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// values is the query string of a list.
func (q ListQuery) values() url.Values {
	v := url.Values{}
	for _, name := range q.Properties {
		v.Add("properties[]", name)
	}
	set := func(name, value string) {
		if value != "" && value != "0" {
			v.Set(name, value)
		}
	}
	set("post-status", q.PostStatus)
	set("category", q.Category)
	set("limit", strconv.Itoa(q.Limit))
	set("offset", strconv.Itoa(q.Offset))
	return v
}

// matching are the names in which filter is found, whatever the case of its letters.
func matching(list []string, filter string) []string {
	filter = strings.ToLower(filter)
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !strings.Contains(strings.ToLower(s), filter) })
}
