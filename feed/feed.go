package feed

import "time"

// Format is the family that a document belongs to. Format and Version together name the
// specification that the document declares.
type Format string

// The formats that Parse reads.
const (
	RSS           Format = "rss"           // 0.90 and 1.0 (RDF), 0.91, 0.92, 0.93, 0.94, 2.0
	Atom          Format = "atom"          // 0.3 and 1.0
	JSONFeed      Format = "json"          // 1.0 and 1.1
	CDF           Format = "cdf"           // Channel Definition Format
	ScriptingNews Format = "scriptingnews" // 1.0a2 and 2.0b1
	MCF           Format = "mcf"           // Meta Content Framework
	Redirect      Format = "redirect"      // a document that only states the new URL of a feed
)

// Feed is one parsed document, in any format. Fields that the document does not set
// are zero: Parse invents no values.
type Feed struct {
	Format   Format `json:"format"`
	Version  string `json:"version,omitempty"`  // the version as the format writes it: "2.0", "0.91", "1.1"; "" if not declared
	Variant  string `json:"variant,omitempty"`  // "netscape" or "userland" for RSS 0.91
	Encoding string `json:"encoding,omitempty"` // character encoding of the document: "utf-8", "windows-1252"

	ID       string `json:"id,omitempty"` // atom:id or rdf:about; in JSON Feed: the feed_url
	Title    Text   `json:"title,omitzero"`
	Subtitle Text   `json:"subtitle,omitzero"` // in RSS and CDF: description; in Atom 0.3: tagline
	Info     Text   `json:"info,omitzero"`     // a note for people who open the feed in a browser
	Rights   Text   `json:"rights,omitzero"`
	Link     string `json:"link,omitempty"` // the page that the feed belongs to
	Links    []Link `json:"links,omitempty"`
	Language string `json:"language,omitempty"` // language tag: "en-GB"
	Base     string `json:"base,omitempty"`     // base URL of relative references in the feed element

	Published    Date         `json:"published,omitzero"`
	Updated      Date         `json:"updated,omitzero"`
	Created      Date         `json:"created,omitzero"`
	Authors      []Person     `json:"authors,omitempty"`
	Contributors []Person     `json:"contributors,omitempty"`
	Publisher    *Person      `json:"publisher,omitempty"` // webMaster, dc:publisher, itunes:owner
	Categories   []Category   `json:"categories,omitempty"`
	Generator    *Generator   `json:"generator,omitempty"`
	Docs         string       `json:"docs,omitempty"`   // URL of the documentation of the format
	Rating       string       `json:"rating,omitempty"` // PICS label
	ErrorReports string       `json:"errorReports,omitempty"`
	Image        *Image       `json:"image,omitempty"` // RSS image, Atom logo, itunes:image
	Icon         string       `json:"icon,omitempty"`  // URL of a small square image
	TextInput    *TextInput   `json:"textInput,omitempty"`
	Licenses     []string     `json:"licenses,omitempty"` // URLs of the licences
	Cloud        *Cloud       `json:"cloud,omitempty"`    // the first of Clouds
	Clouds       []Cloud      `json:"clouds,omitempty"`
	Hubs         []Hub        `json:"hubs,omitempty"`  // WebSub and JSON Feed
	Self         string       `json:"self,omitempty"`  // the URL that the feed declares for itself
	Next         string       `json:"next,omitempty"`  // URL of the following page of a paged feed
	Moved        *Moved       `json:"moved,omitempty"` // new URL, from an XML redirect or itunes:new-feed-url
	Hints        Hints        `json:"hints,omitzero"`
	Search       *Search      `json:"search,omitempty"`
	BlogChannel  *BlogChannel `json:"blogChannel,omitempty"`
	ITunes       *ITunes      `json:"itunes,omitempty"`
	Podcast      *Podcast     `json:"podcast,omitempty"`
	Media        *Media       `json:"media,omitempty"`
	Where        []Geometry   `json:"where,omitempty"`
	Accounts     []Account    `json:"accounts,omitempty"` // source:account
	Unknown      []Node       `json:"unknown,omitempty"`  // elements that have no field
	Attrs        []Attr       `json:"attrs,omitempty"`    // attributes of other vocabularies

	Items    []Item    `json:"items"`              // in document order; never nil after Parse
	Problems []Problem `json:"problems,omitempty"` // repairs and omissions
}

// Item is one entry of a feed, or an entry nested in another entry.
type Item struct {
	// ID identifies the item within its feed. It is never empty; IDFrom names its origin.
	ID        string `json:"id"`
	IDFrom    IDFrom `json:"idFrom"`
	PermaLink bool   `json:"permaLink,omitempty"` // the guid of RSS is also the URL of the item

	Title   Text   `json:"title,omitzero"`    // zero if the item has no title
	Link    string `json:"link,omitempty"`    // the page of the item
	Links   []Link `json:"links,omitempty"`   // all declared links
	Summary Text   `json:"summary,omitzero"`  // in RSS: description
	Content []Text `json:"content,omitempty"` // the full text, in one or more media types

	Published Date `json:"published,omitzero"`
	Updated   Date `json:"updated,omitzero"`

	Authors      []Person    `json:"authors,omitempty"`
	Contributors []Person    `json:"contributors,omitempty"`
	Categories   []Category  `json:"categories,omitempty"`
	Enclosures   []Enclosure `json:"enclosures,omitempty"`
	Source       *Source     `json:"source,omitempty"` // the feed that first published the item
	More         *More       `json:"more,omitempty"`   // rarely used fields; nil if all are zero
	Media        *Media      `json:"media,omitempty"`
	ITunes       *ITunes     `json:"itunes,omitempty"`
	Podcast      *Podcast    `json:"podcast,omitempty"`
	Items        []Item      `json:"items,omitempty"`   // nested items, of rssCloud:item or CDF
	Unknown      []Node      `json:"unknown,omitempty"` // elements that have no field
}

// IDFrom names the part of an item from which its ID was made.
type IDFrom string

// Origins of an ID, the most reliable first.
const (
	FromID        IDFrom = "id"         // guid, atom:id, JSON id, rdf:about
	FromLink      IDFrom = "link"       // the link without tracking and session parameters
	FromEnclosure IDFrom = "enclosure"  // the URL of the first enclosure
	FromTitleDate IDFrom = "title+date" // a hash of the title and the date
	FromContent   IDFrom = "content"    // a hash of the content of the item
)

// More contains rarely used fields of an item. It is a separate struct so that other items use less
// memory.
type More struct {
	Created         Date        `json:"created,omitzero"`
	Expires         Date        `json:"expires,omitzero"`
	Edited          Date        `json:"edited,omitzero"` // app:edited
	Draft           bool        `json:"draft,omitempty"` // app:control
	Rights          Text        `json:"rights,omitzero"`
	Publisher       *Person     `json:"publisher,omitempty"`
	Language        string      `json:"language,omitempty"` // set only if the item itself declares it
	Image           *Image      `json:"image,omitempty"`
	BannerImage     string      `json:"bannerImage,omitempty"`   // URL (JSON Feed)
	ExternalLink    string      `json:"externalLink,omitempty"`  // URL of another page that the item is about (JSON Feed)
	Comments        string      `json:"comments,omitempty"`      // URL of the page of comments
	CommentAPI      string      `json:"commentAPI,omitempty"`    // URL that accepts comments (wfw:comment)
	CommentsFeed    string      `json:"commentsFeed,omitempty"`  // URL of the feed of comments (wfw:commentRss, source:comments, link rel=replies)
	CommentCount    *int        `json:"commentCount,omitempty"`  // nil: not declared (slash:comments, thr:total)
	Section         string      `json:"section,omitempty"`       // slash
	Department      string      `json:"department,omitempty"`    // slash
	HitParade       []int       `json:"hitParade,omitempty"`     // numbers of hits (slash)
	InReplyTo       []InReplyTo `json:"inReplyTo,omitempty"`     // thr, source:inReplyTo
	Licenses        []string    `json:"licenses,omitempty"`      // URLs
	OriginalLink    string      `json:"originalLink,omitempty"`  // URL before redirection (feedburner:origLink)
	OriginalMedia   string      `json:"originalMedia,omitempty"` // URL before redirection (feedburner:origEnclosureLink)
	Where           []Geometry  `json:"where,omitempty"`
	Chapters        []Chapter   `json:"chapters,omitempty"`        // Podlove simple chapters
	ChaptersVersion string      `json:"chaptersVersion,omitempty"` // version of Podlove simple chapters, as written
	Markdown        string      `json:"markdown,omitempty"`        // source:markdown
	Outlines        []Outline   `json:"outlines,omitempty"`        // source:outline
	Accounts        []Account   `json:"accounts,omitempty"`        // source:account
	LocalTime       string      `json:"localTime,omitempty"`       // local time of the author, as written
	TextInput       *TextInput  `json:"textInput,omitempty"`
	Attrs           []Attr      `json:"attrs,omitempty"` // attributes of other vocabularies
}

// Text is a text with its media type, language and base URL.
type Text struct {
	Value    string `json:"value"`
	Type     string `json:"type,omitempty"` // media type: text/plain, text/html, application/xhtml+xml or another type that the feed declares
	Language string `json:"language,omitempty"`
	Base     string `json:"base,omitempty"` // base URL of relative references; stays set after Parse has resolved the references
	Src      string `json:"src,omitempty"`  // URL of Atom content that is not in the feed
	Label    string `json:"label,omitempty"`
}

// Link is a typed reference.
type Link struct {
	Rel      string `json:"rel,omitempty"` // alternate, self, via, related, hub, …; RSS link: alternate
	Href     string `json:"href"`
	Type     string `json:"type,omitempty"`
	Title    string `json:"title,omitempty"`
	Language string `json:"language,omitempty"` // hreflang
	Length   string `json:"length,omitempty"`
	Count    string `json:"count,omitempty"`   // thr:count
	Updated  string `json:"updated,omitempty"` // thr:updated, thr:when
}

// Enclosure is a file that belongs to an item.
type Enclosure struct {
	URL      string  `json:"url"`
	Type     string  `json:"type,omitempty"`
	Length   int64   `json:"length,omitempty"` // bytes; 0 if unknown
	Title    string  `json:"title,omitempty"`
	Duration float64 `json:"duration,omitempty"` // seconds (JSON Feed)
}

// Category is a subject. Term is empty only if the feed states nothing but a scheme or a label.
type Category struct {
	Term   string `json:"term"`
	Scheme string `json:"scheme,omitempty"` // RSS: domain
	Label  string `json:"label,omitempty"`
}

// Person is an author, a contributor or a publisher.
type Person struct {
	Name   string `json:"name,omitempty"`
	Email  string `json:"email,omitempty"`
	URL    string `json:"url,omitempty"`
	Avatar string `json:"avatar,omitempty"`
	Role   string `json:"role,omitempty"`
	Raw    string `json:"raw,omitempty"` // the original line of RSS, if it was split into the fields above
	*Extension
}

// Date is a date as written in the feed (Raw) and its parsed value (UTC). UTC is the
// zero time if Raw cannot be parsed.
type Date struct {
	Raw string    `json:"raw,omitempty"`
	UTC time.Time `json:"utc,omitzero"`
}

// Generator is the program that wrote the feed.
type Generator struct {
	Name    string `json:"name,omitempty"`
	URL     string `json:"url,omitempty"`
	Version string `json:"version,omitempty"`
}

// Image is an image of a feed or an item.
type Image struct {
	URL         string `json:"url,omitempty"`
	Title       string `json:"title,omitempty"`
	Link        string `json:"link,omitempty"`
	Description string `json:"description,omitempty"`
	Width       int    `json:"width,omitempty"`  // pixels
	Height      int    `json:"height,omitempty"` // pixels
	*Extension
}

// TextInput is the one-field form of early RSS feeds.
type TextInput struct {
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Name        string `json:"name,omitempty"`
	Link        string `json:"link,omitempty"`
}

// Cloud is the rssCloud endpoint where aggregators subscribe to changes, as written.
type Cloud struct {
	Domain            string `json:"domain,omitempty"` // host name or IP address
	Port              string `json:"port,omitempty"`
	Path              string `json:"path,omitempty"`
	RegisterProcedure string `json:"registerProcedure,omitempty"`
	Protocol          string `json:"protocol,omitempty"`
}

// Hub is an endpoint, other than a Cloud, where aggregators subscribe to changes.
type Hub struct {
	Type string `json:"type"` // "WebSub", "rssCloud" or another type that a JSON Feed declares
	URL  string `json:"url"`
}

// Moved states that the feed has a new URL or no longer exists.
type Moved struct {
	To   string `json:"to,omitempty"`   // new URL; empty if Gone
	Gone bool   `json:"gone,omitempty"` // the feed no longer exists
	From string `json:"from"`           // the element that declares it: "redirect" or "itunes:new-feed-url"
}

// Source is the feed that first published an item.
type Source struct {
	ID           string     `json:"id,omitempty"`
	Title        Text       `json:"title,omitzero"`
	Subtitle     Text       `json:"subtitle,omitzero"`
	Rights       Text       `json:"rights,omitzero"`
	Link         string     `json:"link,omitempty"`
	Links        []Link     `json:"links,omitempty"`
	URL          string     `json:"url,omitempty"` // URL of the feed
	Updated      Date       `json:"updated,omitzero"`
	Authors      []Person   `json:"authors,omitempty"`
	Contributors []Person   `json:"contributors,omitempty"`
	Categories   []Category `json:"categories,omitempty"`
	Generator    *Generator `json:"generator,omitempty"`
	Icon         string     `json:"icon,omitempty"`
	Logo         string     `json:"logo,omitempty"`
	*Extension
}

// InReplyTo names the resource that an item replies to (Atom threading, RFC 4685).
type InReplyTo struct {
	Ref    string `json:"ref,omitempty"`    // ID of the item
	Href   string `json:"href,omitempty"`   // URL of its page
	Type   string `json:"type,omitempty"`   // media type of the page
	Source string `json:"source,omitempty"` // URL of the feed that contains it
}

// Hints are the statements of a feed about when to read it again, as written. Package
// polling interprets them.
type Hints struct {
	TTL             string    `json:"ttl,omitempty"`             // minutes
	SkipHours       []string  `json:"skipHours,omitempty"`       // hours in GMT, 0 to 24
	SkipDays        []string  `json:"skipDays,omitempty"`        // English names of days, in GMT
	UpdatePeriod    string    `json:"updatePeriod,omitempty"`    // sy: hourly, daily, weekly, monthly or yearly
	UpdateFrequency string    `json:"updateFrequency,omitempty"` // sy: number of updates in the period
	UpdateBase      Date      `json:"updateBase,omitzero"`       // sy: time of one update
	Schedule        *Schedule `json:"schedule,omitempty"`
	Expired         bool      `json:"expired,omitempty"`        // JSON Feed: the feed will not be updated again
	Complete        bool      `json:"complete,omitempty"`       // itunes:complete
	Archive         bool      `json:"archive,omitempty"`        // RFC 5005 fh:archive
	PodcastUpdates  string    `json:"podcastUpdates,omitempty"` // podcast:updateFrequency: its rule or text
}

// Schedule is the schedule of CDF: when to read the channel.
type Schedule struct {
	StartDate    string `json:"startDate,omitempty"`   // first day
	StopDate     string `json:"stopDate,omitempty"`    // last day
	IntervalTime Span   `json:"intervalTime,omitzero"` // time between two updates
	EarliestTime Span   `json:"earliestTime,omitzero"` // start of the update window within the interval
	LatestTime   Span   `json:"latestTime,omitzero"`   // end of the update window
}

// Span is a length of time in CDF's units, as written.
type Span struct {
	Day  string `json:"day,omitempty"`
	Hour string `json:"hour,omitempty"`
	Min  string `json:"min,omitempty"`
	Sec  string `json:"sec,omitempty"`
	Zone string `json:"zone,omitempty"` // offset from UTC: "-0500"
}

// Search is the OpenSearch description of a page of results.
type Search struct {
	TotalResults string `json:"totalResults,omitempty"`
	StartIndex   string `json:"startIndex,omitempty"`
	ItemsPerPage string `json:"itemsPerPage,omitempty"`
}

// BlogChannel is UserLand's blogChannel module.
type BlogChannel struct {
	BlogRoll        string `json:"blogRoll,omitempty"`        // URL of an OPML document
	MySubscriptions string `json:"mySubscriptions,omitempty"` // URL of an OPML document
	Blink           string `json:"blink,omitempty"`           // URL of a recommended weblog
	Changes         string `json:"changes,omitempty"`         // URL of a changes.xml
}

// Geometry is a place (GeoRSS, GML, W3C geo) in the terms of GeoJSON. Each point of Coordinates is
// [longitude, latitude] or [longitude, latitude, height], in degrees and metres unless SRS declares
// other units. A Point and a Circle have one point, and a Box has two corners. A Polygon has the
// points of its outer ring, and Holes has the rings of its holes.
type Geometry struct {
	Type        string        `json:"type"` // Point, LineString, Polygon, Box, Circle
	Coordinates [][]float64   `json:"coordinates"`
	Holes       [][][]float64 `json:"holes,omitempty"`       // for a Polygon: rings of its holes
	Radius      float64       `json:"radius,omitempty"`      // for a Circle: radius in metres
	SRS         string        `json:"srs,omitempty"`         // URI of the coordinate reference system; "": WGS 84
	FeatureName string        `json:"featureName,omitempty"` // name of the place
	FeatureType string        `json:"featureType,omitempty"` // kind of place
	Relation    string        `json:"relation,omitempty"`    // relation of the content to the place
	Elevation   string        `json:"elevation,omitempty"`   // metres, as written
	Floor       string        `json:"floor,omitempty"`       // floor number, as written
}

// Chapter is a position in a recording, with a title.
type Chapter struct {
	Start string `json:"start"` // offset, as written: HH:MM:SS.mmm
	Title string `json:"title,omitempty"`
	Link  string `json:"link,omitempty"`  // URL
	Image string `json:"image,omitempty"` // URL
}

// Outline is one headline with its child headlines. Its text is in the attribute "text".
type Outline struct {
	Attrs    []Attr    `json:"attrs,omitempty"`
	Outlines []Outline `json:"outlines,omitempty"`
}

// Account is the name of an account at a service.
type Account struct {
	Service string `json:"service,omitempty"`
	Name    string `json:"name"`
}

// Node is a complete element for which there is no field. A node without a name is the text between
// two elements.
type Node struct {
	Space    string `json:"space,omitempty"`  // namespace URI
	Prefix   string `json:"prefix,omitempty"` // namespace prefix, as the document writes it
	Name     string `json:"name,omitempty"`   // local name, as the document writes it
	Attrs    []Attr `json:"attrs,omitempty"`
	Text     string `json:"text,omitempty"` // text of an element without child elements, or of a text node
	Children []Node `json:"children,omitempty"`
	Base     string `json:"base,omitempty"`     // base URL of relative references
	Language string `json:"language,omitempty"` // language tag
}

// Attr is an attribute, as written.
type Attr struct {
	Space string `json:"space,omitempty"`
	Name  string `json:"name"` // with its prefix
	Value string `json:"value"`
}

// Problem describes a part of the document that Parse repaired or left out.
type Problem struct {
	Kind    string `json:"kind"`            // stable, for programs: one of the Problem constants
	Line    int    `json:"line,omitempty"`  // from 1; 0 for the whole document
	Path    string `json:"path,omitempty"`  // element path: rss/channel/item[3]/title
	Message string `json:"message"`         // for people
	Count   int    `json:"count,omitempty"` // for ProblemMore: number of further problems
}

// Byline returns the authors of an item: its own authors or, if it has none, those of its source.
//
// spec:atom-rfc4287#source-authors
func (it *Item) Byline() []Person {
	if len(it.Authors) == 0 && it.Source != nil {
		return it.Source.Authors
	}
	return it.Authors
}
