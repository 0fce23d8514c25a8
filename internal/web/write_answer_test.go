package web

// answered is what the script of the page is told.
type answered struct {
	OK       bool   `json:"ok"`
	Error    string `json:"error,omitempty"`    // a sentence for people
	Conflict bool   `json:"conflict,omitempty"` // somebody else has saved another version
	Login    string `json:"login,omitempty"`    // where to sign in again

	// Of a draft that was saved; after a button, Path is the page to go on to.
	ID       int64  `json:"id,omitempty"`
	Base     int64  `json:"base,omitempty"`
	Copy     int64  `json:"copy,omitempty"`
	CopyBase int64  `json:"copybase,omitempty"`
	Path     string `json:"path,omitempty"`

	// Of a look at the text.
	HTML       string `json:"html,omitempty"`
	Characters int    `json:"characters,omitempty"`
	Limit      int    `json:"limit,omitempty"`
	Over       bool   `json:"over,omitempty"`

	File *answerFile `json:"file,omitempty"`

	Categories []answerCategory `json:"categories,omitempty"`
}

type answerFile struct {
	URL    string `json:"url"`
	Type   string `json:"type,omitempty"`
	Length string `json:"length,omitempty"`
	Title  string `json:"title,omitempty"`
	Name   string `json:"name"`
	Size   string `json:"size,omitempty"`
}

type answerCategory struct {
	Label string `json:"label"`
	Posts int64  `json:"posts"`
}
