package feed

// Kinds of problems.
const (
	ProblemTruncated = "truncated"    // the document ends in the middle
	ProblemUnclosed  = "unclosed"     // an element was closed for its author
	ProblemStrayEnd  = "stray-end"    // an end tag of nothing
	ProblemMarkup    = "markup"       // a stray <, a bad tag, a bad comment
	ProblemAttribute = "attribute"    // unquoted, repeated, without value
	ProblemEntity    = "entity"       // a bare & or an entity that XML does not have
	ProblemCharacter = "character"    // control characters, bytes that are not in the encoding
	ProblemEncoding  = "encoding"     // declared and real encoding differ, or the name is unknown
	ProblemJunk      = "junk"         // before the document or after it
	ProblemNamespace = "namespace"    // undeclared prefix, unusual URI
	ProblemVersion   = "version"      // none, or one that does not exist
	ProblemDate      = "date"         // cannot be read
	ProblemURL       = "url"          // cannot be read
	ProblemValue     = "value"        // any other value that cannot be read
	ProblemMissing   = "missing"      // what the format requires
	ProblemSyntax    = "syntax"       // JSON that is not quite
	ProblemLimit     = "limit"        // a limit was reached
	ProblemType      = "content-type" // the HTTP header says it is no feed
	ProblemDuplicate = "duplicate"    // two items with one id
	ProblemMore      = "and-more"     // how many problems are not told
)
