package web

// answered is the JSON response to a request of the script write.js.
type answered struct {
	OK       bool   `json:"ok"`
	Error    string `json:"error,omitempty"`    // error message for users
	Conflict bool   `json:"conflict,omitempty"` // true: the post was changed elsewhere
	Login    string `json:"login,omitempty"`    // URL to sign in again

	// These fields describe a saved draft. After the user has pressed a button, only Path is set: it is the
	// path of the next page.
	ID       int64  `json:"id,omitempty"`
	Base     int64  `json:"base,omitempty"`
	Copy     int64  `json:"copy,omitempty"`
	CopyBase int64  `json:"copybase,omitempty"`
	Path     string `json:"path,omitempty"`

	// These fields describe a preview.
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
