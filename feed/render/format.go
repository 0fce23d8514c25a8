package render

import (
	"strings"
)

// Format is an output format.
type Format struct {
	Name  string // identifier for Append and Lookup, such as "rss20"
	Title string // name for people, such as "RSS 2.0"
	Ext   string // file extension without the dot; "" if another version of the format has the extension
	Type  string // media type with the charset
}

// Formats returns all formats in the order in which to list them.
func Formats() []Format {
	return []Format{
		{"rss090", "RSS 0.90", "", "application/rdf+xml; charset=utf-8"},
		{"rss091", "RSS 0.91", "", typeRSS},
		{"rss092", "RSS 0.92", "", typeRSS},
		{"rss093", "RSS 0.93", "", typeRSS},
		{"rss094", "RSS 0.94", "", typeRSS},
		{"rss20", "RSS 2.0", "xml", typeRSS},
		{"rdf", "RSS 1.0 (RDF)", "rdf", "application/rdf+xml; charset=utf-8"},
		{"atom", "Atom 1.0", "atom", "application/atom+xml; charset=utf-8"},
		{"atom03", "Atom 0.3", "", "application/atom+xml; charset=utf-8"},
		{"jsonfeed", "JSON Feed 1.1", "json", "application/feed+json; charset=utf-8"},
		{"cdf", "CDF", "cdf", "application/x-cdf; charset=utf-8"},
		{"scriptingnews", "scriptingNews 2.0b1", "", "text/xml; charset=utf-8"},
		{"opml", "OPML 2.0", "opml", "text/x-opml; charset=utf-8"},
		{"csv", "CSV", "csv", "text/csv; charset=utf-8; header=present"},
		{"tsv", "TSV", "tsv", "text/tab-separated-values; charset=utf-8"},
		{"phps", "PHP serialize", "phps", "application/vnd.php.serialized"},
		{"storable", "Perl Storable", "sto", "application/x-perl-storable"},
		{"php", "PHP source", "php", "text/x-php; charset=utf-8"},
		{"perl", "Perl source", "pl", "text/x-perl; charset=utf-8"},
		{"python", "Python source", "py", "text/x-python; charset=utf-8"},
		{"ruby", "Ruby source", "rb", "text/x-ruby; charset=utf-8"},
		{"js", "JavaScript module", "js", "text/javascript; charset=utf-8"},
		{"jsonp", "JSON-P", "", "text/javascript; charset=utf-8"},
		{"html", "HTML (h-feed)", "html", "text/html; charset=utf-8"},
		{"text", "Plain text", "txt", "text/plain; charset=utf-8"},
	}
}

const typeRSS = "application/rss+xml; charset=utf-8"

// Lookup returns the format with a name, or an [*UnknownFormatError].
func Lookup(name string) (Format, error) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, &UnknownFormatError{Name: name}
}

// titleOf returns the title of an existing format.
func titleOf(name string) string {
	f, _ := Lookup(name)
	return f.Title
}

// ByExt returns the format with a file extension. ext has no dot. If no format has the extension,
// ByExt returns false.
func ByExt(ext string) (Format, bool) {
	for _, f := range Formats() {
		if f.Ext == ext && ext != "" {
			return f, true
		}
	}
	return Format{}, false
}

// UnknownFormatError reports that a format name does not exist.
type UnknownFormatError struct{ Name string }

// Error returns a message with the unknown name and all known names.
func (e *UnknownFormatError) Error() string {
	var b strings.Builder
	if e.Name == "" {
		b.WriteString("render: the name of a format is missing; the formats are")
	} else {
		b.WriteString("render: there is no format " + short(e.Name) + "; the formats are")
	}
	for i, f := range Formats() {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(" " + f.Name)
	}
	return b.String()
}

// CallbackError reports that Options.Callback is not a function name.
type CallbackError struct{ Callback string }

// Error returns a message with the invalid name.
func (e *CallbackError) Error() string {
	return "render: " + short(e.Callback) + " is not a valid name of a JavaScript function; use letters, digits, _, $ and dots, like feeds.show"
}

// short quotes and shortens a value for a message.
func short(s string) string {
	const limit = 60
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > limit {
		n := limit
		for s[n]&0xc0 == 0x80 {
			n--
		}
		s = s[:n] + "…"
	}
	return "“" + strings.Map(printable, s) + "”"
}

// printable returns c, or a visible symbol if c would end the line.
func printable(c rune) rune {
	if c < ' ' || 0x7f <= c && c < 0xa0 || c == 0x2028 || c == 0x2029 || 0x202a <= c && c <= 0x202e || 0x2066 <= c && c <= 0x2069 {
		return '\uFFFD'
	}
	return c
}
