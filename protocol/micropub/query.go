package micropub

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/text"
)

// Config is the configuration of a server.
//
// spec:micropub-2017#query-config
type Config struct {
	MediaEndpoint string   `json:"media-endpoint,omitempty"` // URL; "": there is none
	SyndicateTo   []Target `json:"syndicate-to"`             // targets that the user can choose
	// The other fields are extensions.
	PostTypes []PostType `json:"post-types,omitempty"`
	Q         []string   `json:"q,omitempty"`          // supported queries
	Channels  []Channel  `json:"channels,omitempty"`   // sections of the site
	Visible   []string   `json:"visibility,omitempty"` // supported values of the property visibility
}

// Target is a place that posts can also be sent to.
type Target struct {
	UID     string `json:"uid"`  // identifier to send in mp-syndicate-to
	Name    string `json:"name"` // display name
	Service *Party `json:"service,omitempty"`
	User    *Party `json:"user,omitempty"`
}

// Party is the service or the user of a target.
type Party struct {
	Name  string `json:"name,omitempty"`
	URL   string `json:"url,omitempty"`
	Photo string `json:"photo,omitempty"` // URL of an image
}

// PostType is a kind of post that programs may offer.
type PostType struct {
	Type       string   `json:"type"`                 // note, article, photo, reply …
	Name       string   `json:"name"`                 // display name
	Properties []string `json:"properties,omitempty"` // properties that the post can have
}

// Channel is a section of a site.
type Channel struct {
	UID  string `json:"uid"`  // identifier
	Name string `json:"name"` // display name
}

// ListQuery selects posts or files, newest first.
type ListQuery struct {
	Properties []string // properties to return; none: all
	PostStatus string   // "published" or "draft"; "": all
	Category   string   // "": any
	Limit      int      // 1 to 100
	Offset     int      // number of entries to skip
}

// MediaFile is an uploaded file.
type MediaFile struct {
	URL       string    `json:"url"`
	Type      string    `json:"mime_type,omitempty"` // media type
	Name      string    `json:"name,omitempty"`      // file name
	Size      int64     `json:"size,omitempty"`      // bytes
	Published time.Time `json:"published,omitzero"`
}

// listQuery parses the query of a list.
func listQuery(v url.Values) (ListQuery, error) {
	q := ListQuery{Properties: names(v), PostStatus: v.Get("post-status"), Category: v.Get("category"), Limit: 20}
	for name, to := range map[string]*int{"limit": &q.Limit, "offset": &q.Offset} {
		value := v.Get(name)
		if value == "" {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n > 1_000_000 {
			return q, invalid("%s is %q; it must be a number.", name, text.Clip(value, 40))
		}
		*to = n
	}
	q.Limit = min(max(q.Limit, 1), maxListing)
	return q, nil
}

// names returns the requested properties of a query.
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

// values returns the query as a query string.
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

// matching returns the names that contain filter, compared without case.
func matching(list []string, filter string) []string {
	filter = strings.ToLower(filter)
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !strings.Contains(strings.ToLower(s), filter) })
}
