package href

// reference is a set of attributes that hold references.
type reference uint32

const (
	inHref reference = 1 << iota
	inSrc
	inSrcset
	inPoster
	inCite
	inLongdesc
	inUsemap
	inAction
	inFormaction
	inBackground
	inData
	inClassid
	inCodebase
	inProfile
	inXlink
	inLazySrc // the URL of an image that a script of the page loads late
	isRawText // not an attribute: the element has only text

	inAny = isRawText - 1
)

// elementOf returns the reference attributes of the element name, in any case. It checks the length
// first because names differ most in length.
func elementOf(name string) reference {
	if len(name) > len("blockquote") {
		return 0
	}
	if len(name) == 1 {
		switch name[0] | 0x20 {
		case 'a':
			return inHref | inXlink
		case 'q':
			return inCite
		}
		return 0
	}
	for i := 0; i < len(name); i++ {
		if c := name[i]; 'A' <= c && c <= 'Z' {
			var lower [16]byte
			return lowerElementOf(string(lowerTo(&lower, name)))
		}
	}
	return lowerElementOf(name)
}

func lowerElementOf(name string) reference {
	switch name {
	case "img":
		return inSrc | inSrcset | inLongdesc | inUsemap | inLazySrc
	case "td", "th", "tr", "body", "table", "thead", "tbody", "tfoot":
		return inBackground
	case "area", "link":
		return inHref
	case "audio", "embed", "track":
		return inSrc
	case "video":
		return inSrc | inPoster
	case "source":
		return inSrc | inSrcset
	case "image":
		return inHref | inXlink
	case "blockquote", "ins", "del":
		return inCite
	case "iframe":
		return inSrc | inLongdesc | isRawText
	case "frame":
		return inSrc | inLongdesc
	case "input":
		return inSrc | inUsemap | inFormaction
	case "button":
		return inFormaction
	case "form":
		return inAction
	case "object":
		return inClassid | inCodebase | inData | inUsemap
	case "applet":
		return inCodebase
	case "head":
		return inProfile
	case "script":
		return inSrc | isRawText
	case "style", "textarea", "title", "xmp", "noembed", "noframes", "plaintext":
		return isRawText
	}
	return 0
}

// attributeOf returns the reference attribute of this name, in any case; 0 if there is none.
func attributeOf(name string) reference {
	switch len(name) {
	case len("src"):
		if name == "src" {
			return inSrc
		}
	case len("href"):
		if name == "href" {
			return inHref
		}
	case 1, 2:
		return 0
	}
	if len(name) > len("data-original") {
		return 0
	}
	var lower [16]byte
	switch string(lowerTo(&lower, name)) {
	case "href":
		return inHref
	case "src":
		return inSrc
	case "srcset":
		return inSrcset
	case "poster":
		return inPoster
	case "cite":
		return inCite
	case "longdesc":
		return inLongdesc
	case "usemap":
		return inUsemap
	case "action":
		return inAction
	case "formaction":
		return inFormaction
	case "background":
		return inBackground
	case "data":
		return inData
	case "classid":
		return inClassid
	case "codebase":
		return inCodebase
	case "profile":
		return inProfile
	case "xlink:href":
		return inXlink
	case "data-src", "data-lazy-src", "data-original":
		return inLazySrc
	}
	return 0
}
