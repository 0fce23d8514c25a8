package hubcli

import (
	"cmp"
	"fmt"
	"time"

	"cloudburst/internal/cli/hubclient"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/text"
)

// record is one line of output, as --json prints it.
type record struct {
	At        time.Time  `json:"at"`
	Event     string     `json:"event"`
	Protocol  string     `json:"protocol,omitempty"` // protocol of the notification: http-post, xml-rpc, soap, websub or cnws
	Feed      string     `json:"feed,omitempty"`
	Hub       string     `json:"hub,omitempty"`
	Message   string     `json:"message,omitempty"`
	AfterMS   *float64   `json:"after_ms,omitempty"`   // milliseconds from the change to the notification
	Since     string     `json:"since,omitempty"`      // source of ChangedAt: ping, change_time, modified or date
	ChangedAt *time.Time `json:"changed_at,omitempty"` // time of the change
	Title     string     `json:"title,omitempty"`
	Link      string     `json:"link,omitempty"`
	Text      string     `json:"text,omitempty"`

	// Fields of the content that the notification delivered.
	ContentType string `json:"content_type,omitempty"`
	Size        *int   `json:"size,omitempty"`      // size of the content in bytes
	SHA256      string `json:"sha256,omitempty"`    // SHA-256 of the content, in hexadecimal
	Signature   string `json:"signature,omitempty"` // result of the signature check: ok or none

	item  string // title or text of the newest item, printed without --json
	more  string // text below the title, printed without --json
	again bool   // the first line of this record was already printed
}

func (r *record) measure(now, changed time.Time, by string) {
	after := float64(now.Sub(changed).Microseconds()) / 1000
	r.AfterMS, r.Since, r.ChangedAt = &after, by, &changed
}

// show copies the newest item of a document to the record. If the record has no time of change, it
// also copies the time of change that the document states.
func (r *record) show(doc hubclient.Document) {
	newest, dated := doc.NewestItem()
	r.Title, r.Link, r.Text = shell.Clean(newest.Title), shell.Clean(newest.Link), shell.Clip(shell.Clean(newest.Text), 500)
	if r.Since == "" && !doc.Modified.IsZero() {
		r.measure(r.At, doc.Modified, "modified")
	}
	if r.Since == "" && !dated.IsZero() {
		r.measure(r.At, dated, "date")
	}
	r.item = newest.String()
}

// delivery describes the delivered content; "": the notification had no content.
func (r *record) delivery() string {
	if r.Size == nil {
		return ""
	}
	kind, signed := cmp.Or(r.ContentType, "no content type"), "signature ok"
	if r.Signature == "none" {
		signed = "not signed"
	}
	return fmt.Sprintf("%s, %s, %s", shell.Clean(kind), text.Plural(*r.Size, "byte"), signed)
}

// delay describes the time from the change to the arrival of the notification; "": unknown.
func (r *record) delay() string {
	if r.AfterMS == nil {
		return "notified now; the time of the change is unknown"
	}
	d := shell.FormatDuration(time.Duration(*r.AfterMS * float64(time.Millisecond)))
	switch r.Since {
	case "ping":
		return "notified after " + d
	case "change_time":
		return "notified " + d + " after the time in the notification"
	case "modified":
		return "notified " + d + " after the feed's Last-Modified"
	default:
		return "notified " + d + " after the feed's newest date"
	}
}

// emit prints a record.
func (l *listener) emit(r record) {
	if r.At.IsZero() {
		r.At = time.Now()
	}
	r.Protocol = cmp.Or(r.Protocol, l.via)
	l.printing.Lock()
	defer l.printing.Unlock()
	if l.json {
		// Ignore the error: if standard output is closed, the command cannot report errors.
		_ = shell.JSONLines(l.p.Out).Encode(r)
		return
	}
	at := r.At.Local().Format("15:04:05.000")
	switch {
	case r.Event == "error":
		fmt.Fprintf(l.p.Err, "%s  error       %s\n", at, shell.Clean(r.Message))
		return
	case r.Event == "waiting":
		fmt.Fprintf(l.p.Err, "%s  %s\n", at, shell.Clean(r.Message))
		return
	case r.Event != "changed":
		fmt.Fprintf(l.p.Out, "%s  %-10s  %s  %s\n", at, r.Event, shell.Clean(r.Feed), shell.Clean(r.Message))
		return
	case !r.again:
		fmt.Fprintf(l.p.Out, "%s  changed     %s  %s\n", at, shell.Clean(r.Feed), r.delay())
	}
	if r.item != "" {
		fmt.Fprintf(l.p.Out, "                          %s\n", r.item)
	}
	if r.more != "" {
		fmt.Fprintf(l.p.Out, "                          %s\n", r.more)
	}
	if text := r.delivery(); text != "" {
		fmt.Fprintf(l.p.Out, "                          %s\n", text)
	}
	if r.Message != "" {
		fmt.Fprintf(l.p.Err, "%s  error       %s\n", at, shell.Clean(r.Message))
	}
}
