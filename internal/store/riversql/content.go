package riversql

import (
	"encoding/json"
	"strings"
	"time"
)

// decodeContent decodes a content that packContent wrote. A page decodes fifty contents, so a
// faster decoder reads the usual form, and encoding/json reads the rest.
func decodeContent(text string) (keptContent, error) {
	kept, ok := plainContent(text)
	if ok {
		return kept, nil
	}
	kept = keptContent{}
	err := json.Unmarshal([]byte(text), &kept)
	return kept, err
}

// plainContent decodes an object of strings, lists of strings and the literal true. ok is false if
// text contains anything else.
func plainContent(text string) (kept keptContent, ok bool) {
	texts := map[string]*string{"html": &kept.HTML, "text": &kept.Text, "language": &kept.Language, "image": &kept.Image,
		"comments": &kept.Comments, "inReplyTo": &kept.InReplyTo, "commentsFeed": &kept.CommentsFeed, "via": &kept.Via}
	lists := map[string]*[]string{"authors": &kept.Authors, "categories": &kept.Categories}
	times := map[string]*time.Time{"published": &kept.Published, "updated": &kept.Updated}
	flags := map[string]*bool{"more": &kept.More, "words": &kept.Words}
	rest, ok := strings.CutPrefix(text, "{")
	for ok && rest != "}" {
		var key, value string
		if key, rest, ok = quotedText(rest); !ok {
			return kept, false
		}
		if rest, ok = strings.CutPrefix(rest, ":"); !ok {
			return kept, false
		}
		switch {
		case texts[key] != nil:
			*texts[key], rest, ok = quotedText(rest)
		case lists[key] != nil:
			*lists[key], rest, ok = quotedList(rest)
		case times[key] != nil:
			if value, rest, ok = quotedText(rest); ok {
				ok = times[key].UnmarshalText([]byte(value)) == nil
			}
		case flags[key] != nil:
			*flags[key] = true
			rest, ok = strings.CutPrefix(rest, "true")
		default:
			return kept, false
		}
		if ok && rest != "}" {
			rest, ok = strings.CutPrefix(rest, ",")
			ok = ok && rest != "}"
		}
	}
	return kept, ok
}

// quotedList decodes a list of strings that is not empty.
func quotedList(s string) (list []string, rest string, ok bool) {
	rest, ok = strings.CutPrefix(s, "[")
	for ok {
		var one string
		if one, rest, ok = quotedText(rest); !ok {
			return nil, "", false
		}
		list = append(list, one)
		if after, end := strings.CutPrefix(rest, "]"); end {
			return list, after, true
		}
		rest, ok = strings.CutPrefix(rest, ",")
	}
	return nil, "", false
}

// quotedText decodes a string in quotes.
func quotedText(s string) (text, rest string, ok bool) {
	if s, ok = strings.CutPrefix(s, `"`); !ok {
		return "", "", false
	}
	end := strings.IndexByte(s, '"')
	if end < 0 {
		return "", "", false
	}
	if strings.IndexByte(s[:end], '\\') < 0 {
		return s[:end], s[end+1:], true
	}
	var b strings.Builder
	for {
		at := strings.IndexAny(s, `"\`)
		if at < 0 {
			return "", "", false
		}
		b.WriteString(s[:at])
		if s[at] == '"' {
			return b.String(), s[at+1:], true
		}
		if len(s) < at+2 {
			return "", "", false
		}
		n := 2
		switch c := s[at+1]; c {
		case '"', '\\', '/':
			b.WriteByte(c)
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'u':
			if n = 6; len(s) < at+n {
				return "", "", false
			}
			var r string
			if json.Unmarshal([]byte(`"`+s[at:at+n]+`"`), &r) != nil || r == "\uFFFD" { // perhaps half of a surrogate pair, which encoding/json can decode
				return "", "", false
			}
			b.WriteString(r)
		default:
			return "", "", false
		}
		s = s[at+n:]
	}
}
