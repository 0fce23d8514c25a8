package doctor

// Level says how much a finding matters.
type Level string

// The levels, the best first.
const (
	OK      Level = "ok"
	Note    Level = "note"    // good to know
	Warning Level = "warning" // it works, but later, dearer or not for everybody
	Problem Level = "problem" // somebody will not be told, or cannot read the feed
)

// Subjects of checks, in the order in which they come.
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
	ID      string `json:"id"` // stable, for programs: "websub-self"
	Level   Level  `json:"level"`
	Subject string `json:"subject"`
	Text    string `json:"text"` // what was found: a sentence or two
	// Fix is what to do: a sentence, then, where it helps, lines to copy as they are.
	// Empty where there is nothing to do.
	Fix string `json:"fix,omitempty"`
}

// Report is what came of one examination.
type Report struct {
	Feed     string  `json:"feed"`          // as it was named
	URL      string  `json:"url,omitempty"` // where the feed was read in the end
	Checks   []Check `json:"checks"`
	Problems int     `json:"problems"`
	Warnings int     `json:"warnings"`
}

// add takes a finding into the report and tells whoever waits for it.
func (x *exam) add(subject, id string, level Level, text, fix string) {
	c := Check{ID: id, Level: level, Subject: subject, Text: text, Fix: fix}
	switch level {
	case Problem:
		x.report.Problems++
	case Warning:
		x.report.Warnings++
	}
	x.report.Checks = append(x.report.Checks, c)
	if x.tell != nil {
		x.tell(c)
	}
}
