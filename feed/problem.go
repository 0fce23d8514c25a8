package feed

// Kinds of problems.
const (
	ProblemTruncated = "truncated"    // the document ends in the middle
	ProblemUnclosed  = "unclosed"     // an end tag is missing
	ProblemStrayEnd  = "stray-end"    // an end tag without a start tag
	ProblemMarkup    = "markup"       // a stray <, a bad tag, a bad comment
	ProblemAttribute = "attribute"    // an attribute that is unquoted, repeated or without a value
	ProblemEntity    = "entity"       // a bare &, or an entity that XML does not define
	ProblemCharacter = "character"    // control characters, or bytes that are invalid in the encoding
	ProblemEncoding  = "encoding"     // declared and real encoding differ, or the name is unknown
	ProblemJunk      = "junk"         // text before or after the document
	ProblemNamespace = "namespace"    // an undeclared prefix or an unusual URI
	ProblemVersion   = "version"      // a version that is missing or does not exist
	ProblemDate      = "date"         // a date that cannot be parsed
	ProblemURL       = "url"          // a URL that cannot be parsed
	ProblemValue     = "value"        // any other value that cannot be parsed
	ProblemMissing   = "missing"      // a part that the format requires is missing
	ProblemSyntax    = "syntax"       // invalid JSON syntax
	ProblemLimit     = "limit"        // a limit was reached
	ProblemType      = "content-type" // the Content-Type header is not the type of a feed
	ProblemDuplicate = "duplicate"    // two items with the same id
	ProblemMore      = "and-more"     // states the number of problems that are not listed
)
