package feed

// jsonName identifies a member name that JSON Feed defines. 0 stands for any other name.
type jsonName uint8

// jsonNames is a set of names. Each name has one bit.
type jsonNames uint64

const (
	_ jsonName = iota
	nameVersion
	nameTitle
	nameHomePageURL
	nameFeedURL
	nameDescription
	nameUserComment
	nameNextURL
	nameIcon
	nameFavicon
	nameAuthor
	nameAuthors
	nameLanguage
	nameExpired
	nameHubs
	nameItems
	nameID
	nameURL
	nameExternalURL
	nameContentHTML
	nameContentText
	nameSummary
	nameImage
	nameBannerImage
	nameDatePublished
	nameDateModified
	nameTags
	nameAttachments
	nameMimeType
	nameSizeInBytes
	nameDurationInSeconds
	nameName
	nameAvatar
	nameEmail
	nameType
	nameTerm
	nameScheme
	nameLabel
)

// Names that JSON Feed defines for each kind of object, and email, which feeds use although it is
// not defined.
const (
	feedNames jsonNames = 1<<nameVersion | 1<<nameTitle | 1<<nameHomePageURL | 1<<nameFeedURL | 1<<nameDescription |
		1<<nameUserComment | 1<<nameNextURL | 1<<nameIcon | 1<<nameFavicon | 1<<nameAuthor |
		1<<nameAuthors | 1<<nameLanguage | 1<<nameExpired | 1<<nameHubs | 1<<nameItems
	itemNames jsonNames = 1<<nameID | 1<<nameURL | 1<<nameExternalURL | 1<<nameTitle | 1<<nameContentHTML |
		1<<nameContentText | 1<<nameSummary | 1<<nameImage | 1<<nameBannerImage | 1<<nameDatePublished |
		1<<nameDateModified | 1<<nameAuthor | 1<<nameAuthors | 1<<nameTags | 1<<nameLanguage |
		1<<nameAttachments
	attachmentNames jsonNames = 1<<nameURL | 1<<nameMimeType | 1<<nameTitle | 1<<nameSizeInBytes | 1<<nameDurationInSeconds
	personNames     jsonNames = 1<<nameName | 1<<nameURL | 1<<nameAvatar | 1<<nameEmail
	hubNames        jsonNames = 1<<nameType | 1<<nameURL
	tagNames        jsonNames = 1<<nameTerm | 1<<nameName | 1<<nameTitle | 1<<nameLabel | 1<<nameScheme
)

// jsonNameOf returns the jsonName of key, or 0.
func jsonNameOf(key string) jsonName {
	switch key {
	case "title":
		return nameTitle
	case "author":
		return nameAuthor
	case "authors":
		return nameAuthors
	case "language":
		return nameLanguage
	case "id":
		return nameID
	case "url":
		return nameURL
	case "external_url":
		return nameExternalURL
	case "content_html":
		return nameContentHTML
	case "content_text":
		return nameContentText
	case "summary":
		return nameSummary
	case "image":
		return nameImage
	case "banner_image":
		return nameBannerImage
	case "date_published":
		return nameDatePublished
	case "date_modified":
		return nameDateModified
	case "tags":
		return nameTags
	case "attachments":
		return nameAttachments
	case "mime_type":
		return nameMimeType
	case "size_in_bytes":
		return nameSizeInBytes
	case "duration_in_seconds":
		return nameDurationInSeconds
	case "name":
		return nameName
	case "avatar":
		return nameAvatar
	}
	return rareJSONName(key)
}

// rareJSONName is like jsonNameOf for names that items rarely or never contain.
func rareJSONName(key string) jsonName {
	switch key {
	case "version":
		return nameVersion
	case "home_page_url":
		return nameHomePageURL
	case "feed_url":
		return nameFeedURL
	case "description":
		return nameDescription
	case "user_comment":
		return nameUserComment
	case "next_url":
		return nameNextURL
	case "icon":
		return nameIcon
	case "favicon":
		return nameFavicon
	case "expired":
		return nameExpired
	case "hubs":
		return nameHubs
	case "items":
		return nameItems
	case "email":
		return nameEmail
	case "type":
		return nameType
	case "term":
		return nameTerm
	case "scheme":
		return nameScheme
	case "label":
		return nameLabel
	}
	return 0
}

// name returns the name in set that matches a key, or 0. It reports a name that occurs twice in an
// object; then the last value counts.
func (r *jsonReader) name(key string, set jsonNames, seen *jsonNames) jsonName {
	n := jsonNameOf(key)
	if n == 0 {
		n = r.correctedName(key, set)
	}
	if set&(1<<n) == 0 {
		return 0
	}
	if *seen&(1<<n) != 0 {
		r.report(ProblemSyntax, r.s.pos, "An object has the same name twice; the last value counts.")
	}
	*seen |= 1 << n
	return n
}

// correctedName returns the name in set that key means if capitals, hyphens and spaces are ignored.
// It reports the wrong spelling.
func (r *jsonReader) correctedName(key string, set jsonNames) jsonName {
	var room [32]byte
	low := room[:0]
	odd := false
	if len(key) > 24 || key == "" || key[0] == '_' {
		return 0
	}
	for i := range len(key) {
		c := key[i]
		switch {
		case 'A' <= c && c <= 'Z':
			odd = true
			if i > 0 && (key[i-1] < 'A' || key[i-1] > 'Z') && low[len(low)-1] != '_' {
				low = append(low, '_')
			}
			c |= 0x20
		case c == '-' || c == ' ':
			odd = true
			c = '_'
		}
		low = append(low, c)
		if len(low) > len(room)-2 {
			return 0
		}
	}
	if !odd {
		return 0
	}
	n := jsonNameOf(string(low))
	if set&(1<<n) == 0 || n == 0 {
		return 0
	}
	r.report(ProblemValue, r.s.pos, "The name "+quote(key)+" is not written as it should be: "+string(low)+".")
	return n
}
