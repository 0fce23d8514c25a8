package feed

import "time"

// Format is the family that a document belongs to. Together with Version it says
// which specification the document claims.
type Format string

// The formats that Parse reads.
const (
	RSS           Format = "rss"           // 0.90 and 1.0 (RDF), 0.91, 0.92, 0.93, 0.94, 2.0
	Atom          Format = "atom"          // 0.3 and 1.0
	JSONFeed      Format = "json"          // 1.0 and 1.1
	CDF           Format = "cdf"           // Channel Definition Format
	ScriptingNews Format = "scriptingnews" // 1.0a2 and 2.0b1
	MCF           Format = "mcf"           // Meta Content Framework
	Redirect      Format = "redirect"      // a document that only says where the feed went
)

// Feed is one document, whatever it was written in. What the document does not
// say is the zero value: nothing is made up.
type Feed struct {
	Format   Format `json:"format"`
	Version  string `json:"version,omitempty"` // as the format numbers itself: "2.0", "0.91", "1.1"; "" when it does not say
	Variant  string `json:"variant,omitempty"` // "netscape" or "userland", of RSS 0.91
	Encoding string `json:"encoding,omitempty"`

	ID       string `json:"id,omitempty"`
	Title    Text   `json:"title,omitzero"`
	Subtitle Text   `json:"subtitle,omitzero"` // RSS and CDF: description; Atom 0.3: tagline
	Info     Text   `json:"info,omitzero"`     // what a person sees who opens the feed by mistake
	Rights   Text   `json:"rights,omitzero"`
	Link     string `json:"link,omitempty"` // the page that the feed belongs to
	Links    []Link `json:"links,omitempty"`
	Language string `json:"language,omitempty"`
	Base     string `json:"base,omitempty"` // what relative references of the feed itself stand on

	Published    Date         `json:"published,omitzero"`
	Updated      Date         `json:"updated,omitzero"`
	Created      Date         `json:"created,omitzero"`
	Authors      []Person     `json:"authors,omitempty"`
	Contributors []Person     `json:"contributors,omitempty"`
	Publisher    *Person      `json:"publisher,omitempty"` // webMaster, dc:publisher, itunes:owner
	Categories   []Category   `json:"categories,omitempty"`
	Generator    *Generator   `json:"generator,omitempty"`
	Docs         string       `json:"docs,omitempty"`
	Rating       string       `json:"rating,omitempty"` // PICS label
	ErrorReports string       `json:"errorReports,omitempty"`
	Image        *Image       `json:"image,omitempty"` // RSS image, Atom logo, itunes:image
	Icon         string       `json:"icon,omitempty"`
	TextInput    *TextInput   `json:"textInput,omitempty"`
	Licenses     []string     `json:"licenses,omitempty"`
	Cloud        *Cloud       `json:"cloud,omitempty"` // the first of Clouds
	Clouds       []Cloud      `json:"clouds,omitempty"`
	Hubs         []Hub        `json:"hubs,omitempty"`  // WebSub and JSON Feed
	Self         string       `json:"self,omitempty"`  // the address that the feed says it has
	Next         string       `json:"next,omitempty"`  // the following page of a paged feed
	Moved        *Moved       `json:"moved,omitempty"` // XML redirect, itunes:new-feed-url
	Hints        Hints        `json:"hints,omitzero"`
	Search       *Search      `json:"search,omitempty"`
	BlogChannel  *BlogChannel `json:"blogChannel,omitempty"`
	ITunes       *ITunes      `json:"itunes,omitempty"`
	Podcast      *Podcast     `json:"podcast,omitempty"`
	Media        *Media       `json:"media,omitempty"`
	Where        []Geometry   `json:"where,omitempty"`
	Accounts     []Account    `json:"accounts,omitempty"` // source:account
	Unknown      []Node       `json:"unknown,omitempty"`
	Attrs        []Attr       `json:"attrs,omitempty"` // of other vocabularies

	Items    []Item    `json:"items"`
	Problems []Problem `json:"problems,omitempty"`
}

// Item is one entry of a feed, or one nested in another.
type Item struct {
	// ID tells the item from others of its feed. It is never empty: see IDFrom.
	ID        string `json:"id"`
	IDFrom    IDFrom `json:"idFrom"`
	PermaLink bool   `json:"permaLink,omitempty"` // the guid is the address of the item too

	Title   Text   `json:"title,omitzero"` // none where the feed gives none
	Link    string `json:"link,omitempty"` // the page of the item
	Links   []Link `json:"links,omitempty"`
	Summary Text   `json:"summary,omitzero"` // RSS: description
	Content []Text `json:"content,omitempty"`

	Published Date `json:"published,omitzero"`
	Updated   Date `json:"updated,omitzero"`

	Authors      []Person    `json:"authors,omitempty"`
	Contributors []Person    `json:"contributors,omitempty"`
	Categories   []Category  `json:"categories,omitempty"`
	Enclosures   []Enclosure `json:"enclosures,omitempty"`
	Source       *Source     `json:"source,omitempty"` // where the item was taken from
	More         *More       `json:"more,omitempty"`   // what few items have
	Media        *Media      `json:"media,omitempty"`
	ITunes       *ITunes     `json:"itunes,omitempty"`
	Podcast      *Podcast    `json:"podcast,omitempty"`
	Items        []Item      `json:"items,omitempty"`   // nested: rssCloud:item, CDF
	Unknown      []Node      `json:"unknown,omitempty"` // elements that no field above is for
}

// IDFrom says what an item's ID was made from.
type IDFrom string

// Where an ID comes from, the best first.
const (
	FromID        IDFrom = "id"         // guid, atom:id, JSON id, rdf:about
	FromLink      IDFrom = "link"       // the link without what changes from visit to visit
	FromEnclosure IDFrom = "enclosure"  // the address of the first enclosure
	FromTitleDate IDFrom = "title+date" // a hash of both
	FromContent   IDFrom = "content"    // a hash of what the item says
)

// More is what few items have; it stands apart so that the rest need no room for it.
type More struct {
	Created         Date        `json:"created,omitzero"`
	Expires         Date        `json:"expires,omitzero"`
	Edited          Date        `json:"edited,omitzero"` // app:edited
	Draft           bool        `json:"draft,omitempty"` // app:control
	Rights          Text        `json:"rights,omitzero"`
	Publisher       *Person     `json:"publisher,omitempty"`
	Language        string      `json:"language,omitempty"` // of the item, where it says so itself
	Image           *Image      `json:"image,omitempty"`
	BannerImage     string      `json:"bannerImage,omitempty"` // JSON Feed
	ExternalLink    string      `json:"externalLink,omitempty"`
	Comments        string      `json:"comments,omitempty"`     // page of the comments
	CommentAPI      string      `json:"commentAPI,omitempty"`   // wfw:comment
	CommentsFeed    string      `json:"commentsFeed,omitempty"` // wfw:commentRss, link rel=replies
	CommentCount    *int        `json:"commentCount,omitempty"` // slash:comments, thr:total
	Section         string      `json:"section,omitempty"`      // slash
	Department      string      `json:"department,omitempty"`   // slash
	HitParade       []int       `json:"hitParade,omitempty"`    // slash
	InReplyTo       []InReplyTo `json:"inReplyTo,omitempty"`    // thr, source:inReplyTo
	Licenses        []string    `json:"licenses,omitempty"`
	OriginalLink    string      `json:"originalLink,omitempty"` // feedburner:origLink
	OriginalMedia   string      `json:"originalMedia,omitempty"`
	Where           []Geometry  `json:"where,omitempty"`
	Chapters        []Chapter   `json:"chapters,omitempty"`        // Podlove simple chapters
	ChaptersVersion string      `json:"chaptersVersion,omitempty"` // of Podlove simple chapters, as written
	Markdown        string      `json:"markdown,omitempty"`        // source:markdown
	Outlines        []Outline   `json:"outlines,omitempty"`        // source:outline
	Accounts        []Account   `json:"accounts,omitempty"`        // source:account
	LocalTime       string      `json:"localTime,omitempty"`
	TextInput       *TextInput  `json:"textInput,omitempty"`
	Attrs           []Attr      `json:"attrs,omitempty"` // of other vocabularies
}

// Text is words with what is needed to show them.
type Text struct {
	Value    string `json:"value"`
	Type     string `json:"type,omitempty"` // media type: text/plain, text/html, application/xhtml+xml or what the feed gave
	Language string `json:"language,omitempty"`
	Base     string `json:"base,omitempty"` // what relative references stand on, or stood on before they were resolved
	Src      string `json:"src,omitempty"`  // Atom content that is elsewhere
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
	Length   int64   `json:"length,omitempty"` // bytes; 0: not known
	Title    string  `json:"title,omitempty"`
	Duration float64 `json:"duration,omitempty"` // seconds (JSON Feed)
}

// Category is a subject. Term is empty only where nothing but a scheme or a label was
// given.
type Category struct {
	Term   string `json:"term"`
	Scheme string `json:"scheme,omitempty"` // RSS: domain
	Label  string `json:"label,omitempty"`
}

// Person is whoever wrote, helped or publishes.
type Person struct {
	Name   string `json:"name,omitempty"`
	Email  string `json:"email,omitempty"`
	URL    string `json:"url,omitempty"`
	Avatar string `json:"avatar,omitempty"`
	Role   string `json:"role,omitempty"`
	Raw    string `json:"raw,omitempty"` // one line, as RSS has it, when it was taken apart
	*Extension
}

// Date is a moment as the feed wrote it and what it means. UTC is the zero time
// when Raw cannot be read.
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

// Image is a picture of a feed or an item.
type Image struct {
	URL         string `json:"url,omitempty"`
	Title       string `json:"title,omitempty"`
	Link        string `json:"link,omitempty"`
	Description string `json:"description,omitempty"`
	Width       int    `json:"width,omitempty"`  // pixels
	Height      int    `json:"height,omitempty"` // pixels
	*Extension
}

// TextInput is a form of one field that early feeds offered.
type TextInput struct {
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Name        string `json:"name,omitempty"`
	Link        string `json:"link,omitempty"`
}

// Cloud is where an aggregator asks to be told of changes, as written.
type Cloud struct {
	Domain            string `json:"domain,omitempty"`
	Port              string `json:"port,omitempty"`
	Path              string `json:"path,omitempty"`
	RegisterProcedure string `json:"registerProcedure,omitempty"`
	Protocol          string `json:"protocol,omitempty"`
}

// Hub is another place to ask for notifications.
type Hub struct {
	Type string `json:"type"` // "WebSub", "rssCloud" or what JSON Feed names
	URL  string `json:"url"`
}

// Moved says that the feed has another address, or none any more.
type Moved struct {
	To   string `json:"to,omitempty"`
	Gone bool   `json:"gone,omitempty"`
	From string `json:"from"` // what said so: "redirect", "itunes:new-feed-url"
}

// Source is the feed that an item was first in.
type Source struct {
	ID           string     `json:"id,omitempty"`
	Title        Text       `json:"title,omitzero"`
	Subtitle     Text       `json:"subtitle,omitzero"`
	Rights       Text       `json:"rights,omitzero"`
	Link         string     `json:"link,omitempty"`
	Links        []Link     `json:"links,omitempty"`
	URL          string     `json:"url,omitempty"` // the feed itself
	Updated      Date       `json:"updated,omitzero"`
	Authors      []Person   `json:"authors,omitempty"`
	Contributors []Person   `json:"contributors,omitempty"`
	Categories   []Category `json:"categories,omitempty"`
	Generator    *Generator `json:"generator,omitempty"`
	Icon         string     `json:"icon,omitempty"`
	Logo         string     `json:"logo,omitempty"`
	*Extension
}

// InReplyTo names what an item answers (Atom threading, RFC 4685).
type InReplyTo struct {
	Ref    string `json:"ref,omitempty"`
	Href   string `json:"href,omitempty"`
	Type   string `json:"type,omitempty"`
	Source string `json:"source,omitempty"`
}

// Hints are what a feed says about when to read it again. Nothing is interpreted:
// package feedstate does that.
type Hints struct {
	TTL             string    `json:"ttl,omitempty"` // minutes
	SkipHours       []string  `json:"skipHours,omitempty"`
	SkipDays        []string  `json:"skipDays,omitempty"`
	UpdatePeriod    string    `json:"updatePeriod,omitempty"` // sy:
	UpdateFrequency string    `json:"updateFrequency,omitempty"`
	UpdateBase      Date      `json:"updateBase,omitzero"`
	Schedule        *Schedule `json:"schedule,omitempty"`
	Expired         bool      `json:"expired,omitempty"`  // JSON Feed: nothing will ever come
	Complete        bool      `json:"complete,omitempty"` // itunes:complete
	Archive         bool      `json:"archive,omitempty"`  // RFC 5005 fh:archive
	PodcastUpdates  string    `json:"podcastUpdates,omitempty"`
}

// Schedule is CDF's: when the channel is worth reading.
type Schedule struct {
	StartDate    string `json:"startDate,omitempty"`
	StopDate     string `json:"stopDate,omitempty"`
	IntervalTime Span   `json:"intervalTime,omitzero"`
	EarliestTime Span   `json:"earliestTime,omitzero"`
	LatestTime   Span   `json:"latestTime,omitzero"`
}

// Span is a length of time in CDF's units, as written.
type Span struct {
	Day  string `json:"day,omitempty"`
	Hour string `json:"hour,omitempty"`
	Min  string `json:"min,omitempty"`
	Sec  string `json:"sec,omitempty"`
	Zone string `json:"zone,omitempty"`
}

// Search is OpenSearch's description of a page of results.
type Search struct {
	TotalResults string `json:"totalResults,omitempty"`
	StartIndex   string `json:"startIndex,omitempty"`
	ItemsPerPage string `json:"itemsPerPage,omitempty"`
}

// BlogChannel is UserLand's blogChannel module.
type BlogChannel struct {
	BlogRoll        string `json:"blogRoll,omitempty"`
	MySubscriptions string `json:"mySubscriptions,omitempty"`
	Blink           string `json:"blink,omitempty"`
	Changes         string `json:"changes,omitempty"`
}

// Geometry is a place (GeoRSS, GML, W3C geo) in the words of GeoJSON. Coordinates
// are longitude, latitude and, if given, height, one point after another.
type Geometry struct {
	Type        string        `json:"type"` // Point, LineString, Polygon, Box, Circle
	Coordinates [][]float64   `json:"coordinates"`
	Holes       [][][]float64 `json:"holes,omitempty"`  // in a Polygon
	Radius      float64       `json:"radius,omitempty"` // metres, of a Circle
	SRS         string        `json:"srs,omitempty"`
	FeatureName string        `json:"featureName,omitempty"`
	FeatureType string        `json:"featureType,omitempty"`
	Relation    string        `json:"relation,omitempty"`
	Elevation   string        `json:"elevation,omitempty"`
	Floor       string        `json:"floor,omitempty"`
}

// Chapter is a mark within a recording.
type Chapter struct {
	Start string `json:"start"`
	Title string `json:"title,omitempty"`
	Link  string `json:"link,omitempty"`
	Image string `json:"image,omitempty"`
}

// Outline is one headline with those under it. The text is the attribute "text".
type Outline struct {
	Attrs    []Attr    `json:"attrs,omitempty"`
	Outlines []Outline `json:"outlines,omitempty"`
}

// Account is a name at a service.
type Account struct {
	Service string `json:"service,omitempty"`
	Name    string `json:"name"`
}

// Node is an element that nothing else here is for, whole. A node without a name
// is text between elements.
type Node struct {
	Space    string `json:"space,omitempty"`  // namespace URI
	Prefix   string `json:"prefix,omitempty"` // as written
	Name     string `json:"name,omitempty"`   // local name, as written
	Attrs    []Attr `json:"attrs,omitempty"`
	Text     string `json:"text,omitempty"` // of an element without elements in it, or of a text node
	Children []Node `json:"children,omitempty"`
	Base     string `json:"base,omitempty"`
	Language string `json:"language,omitempty"`
}

// Attr is an attribute, as written.
type Attr struct {
	Space string `json:"space,omitempty"`
	Name  string `json:"name"` // with its prefix
	Value string `json:"value"`
}

// Problem is something that had to be repaired or left out.
type Problem struct {
	Kind    string `json:"kind"`            // stable, for programs: see the Problem constants
	Line    int    `json:"line,omitempty"`  // from 1; 0: the document as a whole
	Path    string `json:"path,omitempty"`  // element path: rss/channel/item[3]/title
	Message string `json:"message"`         // for people
	Count   int    `json:"count,omitempty"` // of ProblemMore: how many
}
