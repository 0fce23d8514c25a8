package doctor

// Level is the severity of a finding.
type Level string

// Levels, least severe first.
const (
	OK      Level = "ok"
	Note    Level = "note"    // information
	Warning Level = "warning" // notifications work, but late, at a higher cost or not for all readers
	Problem Level = "problem" // some subscribers are not notified or cannot read the feed
)

// Subjects of checks, in the order of the report.
const (
	SubjectFeed     = "the feed"
	SubjectItems    = "its items"
	SubjectCaching  = "caching"
	SubjectRSSCloud = "rssCloud"
	SubjectWebSub   = "WebSub"
	SubjectPage     = "the page"
	SubjectPing     = "the ping"
	SubjectWatch    = "the watch"
)

// Check is one finding.
type Check struct {
	ID      string `json:"id"` // stable identifier for programs: "websub-self"
	Level   Level  `json:"level"`
	Subject string `json:"subject"`
	Text    string `json:"text"` // the finding in one or two sentences
	// Fix is the suggested action: a sentence, and possibly lines to copy. "": no action is
	// necessary.
	Fix string `json:"fix,omitempty"`
}

// Report is the result of one examination.
type Report struct {
	Feed     string  `json:"feed"`          // as given by the caller
	URL      string  `json:"url,omitempty"` // final URL after redirects
	Checks   []Check `json:"checks"`
	Problems int     `json:"problems"`
	Warnings int     `json:"warnings"`
}

// add appends a finding to the result and reports it.
func (x *exam) add(subject, id string, level Level, text, fix string) {
	c := Check{ID: id, Level: level, Subject: subject, Text: text, Fix: fix}
	switch level {
	case Problem:
		x.result.Problems++
	case Warning:
		x.result.Warnings++
	}
	x.result.Checks = append(x.result.Checks, c)
	if x.report != nil {
		x.report(c)
	}
}
