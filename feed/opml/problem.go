package opml

// Problem is something that had to be repaired or left out.
type Problem struct {
	Kind    string `json:"kind"`           // stable, for programs: see the Problem constants
	Line    int    `json:"line,omitempty"` // from 1; 0: the document as a whole
	Path    string `json:"path,omitempty"` // element path: opml/body/outline[3]
	Message string `json:"message"`        // for people
}

// Kinds of problems.
const (
	ProblemTruncated = "truncated" // the document ends in the middle
	ProblemUnclosed  = "unclosed"  // an element was closed for its author
	ProblemStrayEnd  = "stray-end" // an end tag of nothing
	ProblemMarkup    = "markup"    // a stray <, a bad tag, a bad comment
	ProblemAttribute = "attribute" // unquoted, repeated, without value, in other letters
	ProblemEntity    = "entity"    // a bare & or an entity that XML does not have
	ProblemCharacter = "character" // control characters, bytes that are not in the encoding
	ProblemEncoding  = "encoding"  // declared and real encoding differ, or the name is unknown
	ProblemJunk      = "junk"      // before the document or after it
	ProblemNamespace = "namespace" // undeclared prefix
	ProblemVersion   = "version"   // none, or one that does not exist
	ProblemDate      = "date"      // cannot be read
	ProblemValue     = "value"     // any other value that cannot be read
	ProblemMissing   = "missing"   // what OPML requires
	ProblemStructure = "structure" // an element where it does not belong
	ProblemDuplicate = "duplicate" // an element of the head a second time
	ProblemLimit     = "limit"     // a limit was reached
	ProblemMore      = "and-more"  // how many problems are not told
)
