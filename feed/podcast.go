package feed

// ITunes contains the elements of Apple's podcast namespace, of a feed or an item.
type ITunes struct {
	Title      string     `json:"title,omitempty"`
	Subtitle   string     `json:"subtitle,omitempty"`
	Summary    Text       `json:"summary,omitzero"`
	Author     string     `json:"author,omitempty"` // name
	Owner      *Person    `json:"owner,omitempty"`
	Image      string     `json:"image,omitempty"`      // URL
	Categories []Category `json:"categories,omitempty"` // the Scheme of a subcategory is its parent
	Keywords   []string   `json:"keywords,omitempty"`
	Explicit   string     `json:"explicit,omitempty"` // as the feed writes it
	Block      string     `json:"block,omitempty"`
	Duration   string     `json:"duration,omitempty"` // as the feed writes it
	Seconds    int        `json:"seconds,omitempty"`  // Duration in seconds; 0 if it cannot be parsed
	Order      string     `json:"order,omitempty"`
	Episode    string     `json:"episode,omitempty"`
	Season     string     `json:"season,omitempty"`
	Type       string     `json:"type,omitempty"`       // episodic, serial; full, trailer, bonus
	NewFeedURL string     `json:"newFeedURL,omitempty"` // new URL of the feed
	Complete   string     `json:"complete,omitempty"`
	Captioned  string     `json:"isClosedCaptioned,omitempty"`
}

// Podcast contains the Podcasting 2.0 elements of a feed or an item. Elements without a field
// (value, podroll, liveItem and others) are stored as complete trees in Other.
type Podcast struct {
	GUID         string            `json:"guid,omitempty"`
	Locked       string            `json:"locked,omitempty"`
	LockedOwner  string            `json:"lockedOwner,omitempty"`
	Medium       string            `json:"medium,omitempty"`
	Season       string            `json:"season,omitempty"`
	SeasonName   string            `json:"seasonName,omitempty"`
	Episode      string            `json:"episode,omitempty"`
	EpisodeLabel string            `json:"episodeLabel,omitempty"`
	Funding      []Link            `json:"funding,omitempty"` // Title is the text of the element
	People       []PodcastPerson   `json:"people,omitempty"`
	Locations    []PodcastLocation `json:"locations,omitempty"`
	Chapters     *Link             `json:"chapters,omitempty"`
	Transcripts  []Link            `json:"transcripts,omitempty"`
	Soundbites   []Soundbite       `json:"soundbites,omitempty"`
	Trailers     []Trailer         `json:"trailers,omitempty"`
	License      *Link             `json:"license,omitempty"` // Title is the name of the license
	Txt          []PodcastTxt      `json:"txt,omitempty"`
	Other        []Node            `json:"other,omitempty"`
}

// PodcastPerson is a host, a guest or a member of the production team.
type PodcastPerson struct {
	Name  string `json:"name"`
	Role  string `json:"role,omitempty"`  // role within the Group: host, guest, editor
	Group string `json:"group,omitempty"` // cast, writing, audio post-production
	Image string `json:"image,omitempty"` // URL
	URL   string `json:"url,omitempty"`   // page of the person
}

// PodcastLocation is the place that an episode is about, or where it was made.
type PodcastLocation struct {
	Name    string `json:"name"`
	Geo     string `json:"geo,omitempty"` // a URI with the scheme geo:
	OSM     string `json:"osm,omitempty"` // an object of OpenStreetMap, such as R113314
	Rel     string `json:"rel,omitempty"`
	Country string `json:"country,omitempty"` // ISO 3166
}

// Soundbite is an excerpt of an episode; both times are in seconds.
type Soundbite struct {
	Title    string `json:"title,omitempty"`
	Start    string `json:"start"`
	Duration string `json:"duration"`
}

// Trailer announces a podcast or a season.
type Trailer struct {
	Title     string `json:"title,omitempty"`
	URL       string `json:"url"` // URL of the file
	Published Date   `json:"published,omitzero"`
	Length    string `json:"length,omitempty"` // bytes, as written
	Type      string `json:"type,omitempty"`
	Season    string `json:"season,omitempty"`
}

// PodcastTxt is free text with a purpose.
type PodcastTxt struct {
	Purpose string `json:"purpose,omitempty"`
	Value   string `json:"value"`
}
