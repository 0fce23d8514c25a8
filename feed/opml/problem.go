package opml

// Problem is a defect that the parser repaired, or content that it omitted.
type Problem struct {
	Kind    string `json:"kind"`           // stable identifier: see the Problem constants
	Line    int    `json:"line,omitempty"` // from 1; 0 for the whole document
	Path    string `json:"path,omitempty"` // element path: opml/body/outline[3]
	Message string `json:"message"`        // for people
}

// Kinds of problems.
const (
	ProblemTruncated = "truncated" // the document ends in the middle
	ProblemUnclosed  = "unclosed"  // an element has no end tag
	ProblemStrayEnd  = "stray-end" // an end tag without a start tag
	ProblemMarkup    = "markup"    // a stray <, a bad tag, a bad comment
	ProblemAttribute = "attribute" // unquoted, repeated, without a value, or in the wrong case
	ProblemEntity    = "entity"    // a bare &, or an entity that XML does not define
	ProblemCharacter = "character" // control characters, or bytes that are invalid in the encoding
	ProblemEncoding  = "encoding"  // declared and real encoding differ, or the encoding is unknown
	ProblemJunk      = "junk"      // content before or after the document
	ProblemNamespace = "namespace" // an undeclared prefix
	ProblemVersion   = "version"   // the version is missing or unknown
	ProblemDate      = "date"      // a date that cannot be parsed
	ProblemValue     = "value"     // any other value that cannot be parsed
	ProblemMissing   = "missing"   // a required element or attribute is missing
	ProblemStructure = "structure" // an element in the wrong place
	ProblemDuplicate = "duplicate" // a repeated element of the head
	ProblemLimit     = "limit"     // the document exceeds a limit
	ProblemMore      = "and-more"  // states the number of problems that are not listed
)
