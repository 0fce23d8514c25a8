package render

import (
	"net/mail"
	"regexp"
	"strings"
	"time"
)

// value checks a text. kind is the name of its kind.
func (j *judge) value(kind, s, path string, t *parsed) {
	s = strings.TrimSpace(s)
	switch kind {
	case "any", "html", "text":
	case "none":
		if s != "" {
			j.err("element-empty", path, s)
		}
	case "filled", "nonhtml":
		if s == "" && kind == "filled" {
			j.doubt("text-empty", path, s)
		}
		if j.forms["markup"].MatchString(s) && j.format != "atom" {
			j.doubt("markup", path, s)
		}
	case "url", "uri", "iri", "http", "id", "rdfuri":
		j.address(kind, s, path)
	case "guid":
		j.guid(s, path, t)
	case "mail", "person":
		j.person(kind, s, path)
	case "rfc822", "rfc3339", "w3c":
		j.date(kind, s, path)
	default:
		if !j.forms[kind].MatchString(s) {
			j.err("value-"+kind, path, s)
		}
	}
	for _, c := range s {
		if c >= 0x80 && c <= 0x9f || c == 0xfffd {
			j.doubt("characters", path, s)
			return
		}
	}
}

// forms returns the kinds that a regular expression defines completely. The key is the name of the
// kind.
func forms() map[string]*regexp.Regexp {
	const ascii = `[0-9a-zA-Z;/?:@&=+$.\-_!~*'()%,#]`
	list := map[string]string{
		"positive": `^\d*[1-9]\d*$`, "count": `^\d+$`, "integer": `^-?\d+$`, "integers": `^\d+(,\s*\d+)*$`, "float": `^\d+(\.\d*)?$`, "decimal": `^[-+]?\d+(\.\d*)?$`,
		"lat": `^[-+]?[0-9.]+$`, "long": `^[-+]?[0-9.]+$`, "pos": `^[-+]?\d+\.?\d*[ ,][-+]?\d+\.?\d*$`, "list": `^[-+]?\d+\.?\d*( [-+]?\d+\.?\d*){3,}$`,
		"hour": `^([01]?\d|2[0-3])$`, "day": `^(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day$`,
		"width": `^([1-9]\d?|1[0-3]\d|14[0-4])$`, "height": `^([1-9]\d?|[1-3]\d\d|400)$`, "formname": `^[A-Za-z]`,
		"mime":     `^[^\s()<>,;:\\"/\[\]?=]+/[^\s()<>,;:\\"/\[\]?=]+(\s*;\s*[^\s()<>,;:\\"/\[\]?=]+=("[^"]*"|[^\s()<>,;:\\"/\[\]?=]+))*$`,
		"language": `(?i)^([a-z]{2,3}|x)(-[a-z0-9]{1,8})*$`, "truefalse": `^(true|false)$`, "yesno": `^(?i)(yes|no|clean)$`, "period": `^(hourly|daily|weekly|monthly|yearly)$`,
		"short": `^(?s).{0,255}$`, "summary": `^(?s).{0,1000}.{0,1000}.{0,1000}.{0,1000}$`, "duration": `^\d+(:[0-5]\d(:[0-5]\d)?)?$`,
		"channeltype": `^(episodic|serial)$`, "episodetype": `^(full|trailer|bonus)$`, "texttype": `^(text|html|xhtml)$`, "plainhtml": `^(plain|html)$`,
		"expression": `^(sample|full|nonstop)$`, "medium": `^(image|audio|video|document|executable)$`, "allowdeny": `^(allow|deny)$`,
		"time": `^(now|\d+(\.\d+)?|\d+:\d\d:\d\d(\.\d+)?)$`, "relation": `^([^\s:/?#]+|[a-zA-Z][^\s]*:[^\s]+)$`, "markup": `</(p|b|i|a|em|strong|div|span|br|h\d|ul|li|pre|code|blockquote)>`,
		"whole": `^[a-zA-Z][0-9a-zA-Z+.\-]*:` + ascii + `+$`, "relative": `^` + ascii + `*$`,
		"web":    `^(?i)https?://([A-Z0-9-]+\.)+[A-Z0-9][A-Z0-9-]*(:\d+)?(/|$)`,
		"tag":    `^tag:([a-z0-9\-._]+@)?[a-z0-9.\-]+,\d{4}(-\d\d(-\d\d)?)?:[^#]*(#[^#]*)?$`,
		"uuid":   `^(?i)urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`,
		"urn":    `^(?i)urn:[a-z0-9][a-z0-9-]{1,31}:([a-z0-9()+,.:=@;$_!*'\-]|%[0-9a-f]{2})+$`,
		"moment": `^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$`, "ymd": `^\d{4}[-.](0[1-9]|1[0-2])[-.](0[1-9]|[12]\d|3[01])$`, "zone": `^[-+]\d{4}$`, "logo": `^(ICON|IMAGE|IMAGE-WIDE)$`, "news": `^2\.0b1$`,
		"mail": `^(?i)[A-Z0-9_\-+.']+@([A-Z0-9-]+\.)+[A-Z0-9][A-Z0-9-]*$`, "simple mail": `^[\w._%+-]+@[A-Za-z][\w.-]+$`,
	}
	compiled := map[string]*regexp.Regexp{}
	for name, expr := range list {
		compiled[name] = regexp.MustCompile(expr)
	}
	return compiled
}

// address checks a URL. The kind url is absolute and in ASCII; uri may also be relative; iri may
// contain all characters; http is a web URL with a domain name as its host.
func (j *judge) address(kind, s, path string) {
	if kind == "iri" || kind == "id" {
		s = strings.Map(func(c rune) rune {
			if c >= 0xa0 {
				return 'x'
			}
			return c
		}, s)
	}
	scheme, rest, _ := strings.Cut(s, ":")
	switch {
	case kind == "http" && scheme != "http" && scheme != "https":
		j.err("address-web", path, s)
	case kind == "http" && !j.forms["web"].MatchString(s):
		j.doubt("address-domain", path, s)
	case (kind == "url" || kind == "http" || kind == "id") && !j.forms["whole"].MatchString(s), !j.forms["relative"].MatchString(s):
		j.err("address", path, s)
	case (scheme == "http" || scheme == "https" || scheme == "ftp") && (len(rest) < 3 || rest[:2] != "//" || rest[2] == '/'):
		j.err("address-host", path, s)
	case strings.EqualFold(scheme, "urn") && !j.urn(s) && !strings.HasSuffix(path, "media:credit/@scheme"): // urn:ebu identifies roles, although it is not registered
		j.err("address-urn", path, s)
	case strings.EqualFold(scheme, "tag") && !j.forms["tag"].MatchString(s):
		j.err("address-tag", path, s)
	}
}

func (j *judge) urn(s string) bool {
	if strings.HasPrefix(strings.ToLower(s), "urn:uuid:") {
		return j.forms["uuid"].MatchString(s)
	}
	return j.forms["urn"].MatchString(s)
}

func (j *judge) guid(s, path string, t *parsed) {
	if given, ok := t.attr("isPermaLink"); !ok || given != "false" {
		j.address("uri", s, path)
		if l := strings.ToLower(s); strings.HasPrefix(l, "tag:") || strings.HasPrefix(l, "urn:") {
			j.err("guid-permalink", path, s)
		}
	} else if len(s) < 9 && digits(s) {
		j.doubt("guid-short", path, s)
	}
	if s == "" {
		j.doubt("text-empty", path, s)
	} else if j.seen["guid "+s] {
		j.err("guid-unique", path, s)
	}
	j.seen["guid "+s] = true
}

// person checks an email address, with or without a name in parentheses.
//
// spec:rss20-2003#author
func (j *judge) person(kind, s, path string) {
	address, name, named := strings.Cut(s, " (")
	switch {
	case kind == "mail":
		address = s
	case !named:
		j.doubt("person-name", path, s)
	case !strings.HasSuffix(name, ")"):
		j.err("person", path, s)
	default:
		if a, err := mail.ParseAddress(s); err != nil || a.Address != address {
			j.err("person-comment", path, s)
		}
	}
	if !j.forms["mail"].MatchString(address) && !j.forms["simple mail"].MatchString(address) {
		j.err("mail", path, s)
	}
}

func (j *judge) date(kind, s, path string) {
	layout := map[string]string{"rfc822": "Mon, 02 Jan 2006 15:04:05 GMT", "rfc3339": time.RFC3339, "w3c": time.RFC3339}[kind]
	t, err := time.Parse(layout, s)
	switch {
	case err != nil || kind == "rfc822" && t.Format(layout) != s:
		j.err("date", path, s)
	case t.Year() < 1990:
		j.doubt("date-plausible", path, s)
	}
}
