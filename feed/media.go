package feed

// Media contains the Media RSS 1.5.1 data of a feed or an item: its files and, in MediaInfo, the
// elements that apply to all files.
type Media struct {
	MediaInfo
	Groups   []MediaGroup   `json:"groups,omitempty"`
	Contents []MediaContent `json:"contents,omitempty"`
}

// MediaGroup is a group of files with the same content.
type MediaGroup struct {
	MediaInfo
	Contents []MediaContent `json:"contents,omitempty"`
}

// MediaContent is one file. Numbers are stored as the feed writes them.
type MediaContent struct {
	MediaInfo
	URL          string `json:"url,omitempty"`
	FileSize     string `json:"fileSize,omitempty"`     // bytes
	Type         string `json:"type,omitempty"`         // media type
	Medium       string `json:"medium,omitempty"`       // image, audio, video, document, executable
	IsDefault    string `json:"isDefault,omitempty"`    // true: the default file of its group
	Expression   string `json:"expression,omitempty"`   // full, sample, nonstop
	Bitrate      string `json:"bitrate,omitempty"`      // kilobits per second
	Framerate    string `json:"framerate,omitempty"`    // frames per second
	SamplingRate string `json:"samplingrate,omitempty"` // kilohertz
	Channels     string `json:"channels,omitempty"`     // number of audio channels
	Duration     string `json:"duration,omitempty"`     // seconds
	Height       string `json:"height,omitempty"`       // pixels
	Width        string `json:"width,omitempty"`        // pixels
	Lang         string `json:"lang,omitempty"`
	Attrs        []Attr `json:"attrs,omitempty"` // attributes of other vocabularies
}

// MediaInfo contains the elements that may occur in a feed, an item, a group or a content.
type MediaInfo struct {
	Title        Text               `json:"title,omitzero"`
	Description  Text               `json:"description,omitzero"`
	Keywords     []string           `json:"keywords,omitempty"`
	Thumbnails   []MediaThumbnail   `json:"thumbnails,omitempty"`
	Categories   []Category         `json:"categories,omitempty"`
	Hashes       []MediaHash        `json:"hashes,omitempty"`
	Players      []MediaPlayer      `json:"players,omitempty"`
	Credits      []MediaCredit      `json:"credits,omitempty"`
	Copyright    *MediaCopyright    `json:"copyright,omitempty"`
	Texts        []MediaText        `json:"texts,omitempty"`
	Restrictions []MediaRestriction `json:"restrictions,omitempty"`
	Ratings      []MediaRating      `json:"ratings,omitempty"`
	Community    *MediaCommunity    `json:"community,omitempty"`
	Comments     []string           `json:"comments,omitempty"`
	Responses    []string           `json:"responses,omitempty"`
	BackLinks    []string           `json:"backLinks,omitempty"`
	Embed        *MediaEmbed        `json:"embed,omitempty"`
	Status       *MediaStatus       `json:"status,omitempty"`
	Prices       []MediaPrice       `json:"prices,omitempty"`
	Licenses     []Link             `json:"licenses,omitempty"`
	SubTitles    []Link             `json:"subTitles,omitempty"`
	PeerLinks    []Link             `json:"peerLinks,omitempty"`
	Locations    []MediaLocation    `json:"locations,omitempty"`
	Rights       string             `json:"rights,omitempty"` // userCreated, official
	Scenes       []MediaScene       `json:"scenes,omitempty"`
	Other        []Node             `json:"other,omitempty"`
}

// MediaThumbnail is a preview image of the file.
type MediaThumbnail struct {
	URL    string `json:"url"`
	Width  string `json:"width,omitempty"`  // pixels
	Height string `json:"height,omitempty"` // pixels
	Time   string `json:"time,omitempty"`   // offset in the file, as Normal Play Time (NTP)
}

// MediaHash is a checksum of the file.
type MediaHash struct {
	Algo  string `json:"algo,omitempty"` // md5 or sha-1; "": md5
	Value string `json:"value"`          // hexadecimal
}

// MediaPlayer is a page that plays the file.
type MediaPlayer struct {
	URL     string `json:"url,omitempty"`
	Width   string `json:"width,omitempty"`   // pixels
	Height  string `json:"height,omitempty"`  // pixels
	Content string `json:"content,omitempty"` // the text of the element
}

// MediaCredit names a person or company that contributed to the file.
type MediaCredit struct {
	Role   string `json:"role,omitempty"`
	Scheme string `json:"scheme,omitempty"` // URI of the vocabulary of roles
	Name   string `json:"name"`
	Attrs  []Attr `json:"attrs,omitempty"` // attributes of other vocabularies
}

// MediaCopyright is the copyright notice of the file.
type MediaCopyright struct {
	URL   string `json:"url,omitempty"`
	Value string `json:"value"`
}

// MediaText is a transcript of the file.
type MediaText struct {
	Type  string `json:"type,omitempty"` // plain, html
	Lang  string `json:"lang,omitempty"`
	Start string `json:"start,omitempty"` // offset in the file, as Normal Play Time (NTP)
	End   string `json:"end,omitempty"`   // offset in the file, as Normal Play Time (NTP)
	Value string `json:"value"`
}

// MediaRestriction states where the file may be used.
type MediaRestriction struct {
	Relationship string `json:"relationship,omitempty"` // allow, deny
	Type         string `json:"type,omitempty"`         // country, uri, sharing
	Value        string `json:"value"`
}

// MediaRating states the audience of the file.
type MediaRating struct {
	Scheme string `json:"scheme,omitempty"`
	Value  string `json:"value"`
}

// MediaCommunity contains the ratings, statistics and tags of viewers.
type MediaCommunity struct {
	StarCount   string     `json:"starCount,omitempty"`
	StarAverage string     `json:"starAverage,omitempty"`
	StarMin     string     `json:"starMin,omitempty"`
	StarMax     string     `json:"starMax,omitempty"`
	Views       string     `json:"views,omitempty"`
	Favorites   string     `json:"favorites,omitempty"`
	Tags        []MediaTag `json:"tags,omitempty"`
}

// MediaTag is a tag and its weight.
type MediaTag struct {
	Name   string `json:"name"`
	Weight string `json:"weight,omitempty"`
}

// MediaEmbed describes how to embed the player in a page.
type MediaEmbed struct {
	URL    string `json:"url,omitempty"`
	Width  string `json:"width,omitempty"`
	Height string `json:"height,omitempty"`
	Params []Attr `json:"params,omitempty"`
}

// MediaStatus states whether the file is still available.
type MediaStatus struct {
	State  string `json:"state,omitempty"` // active, blocked, deleted
	Reason string `json:"reason,omitempty"`
}

// MediaPrice is the price of the file.
type MediaPrice struct {
	Type     string `json:"type,omitempty"` // rent, purchase, package or subscription
	Info     string `json:"info,omitempty"`
	Price    string `json:"price,omitempty"`
	Currency string `json:"currency,omitempty"` // ISO 4217
}

// MediaLocation is the place where the file was recorded.
type MediaLocation struct {
	Description string     `json:"description,omitempty"`
	Start       string     `json:"start,omitempty"`
	End         string     `json:"end,omitempty"`
	Where       []Geometry `json:"where,omitempty"`
}

// MediaScene is a part of the file.
type MediaScene struct {
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Start       string `json:"start,omitempty"` // offset in the file, as Normal Play Time (NTP)
	End         string `json:"end,omitempty"`   // offset in the file, as Normal Play Time (NTP)
}
