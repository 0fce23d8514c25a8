package weblogs

import (
	"cmp"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"cloudburst/internal/charset"
	"cloudburst/internal/wirehttp"
)

// maxFields is the maximum number of fields of a form.
const maxFields = 200

// FormHandler accepts pings from people and from programs that can only send GET: a form
// with name and url, and optionally changesURL and rssUrl, in the query of a GET or the
// body of a POST. The response is a page with the result, and has status 200 if the ping
// was accepted. A GET without these fields returns the form.
//
// spec:feedstate-2007#ping-get
type FormHandler struct {
	Backend Backend
	// Page writes a custom page. title and text are the result in plain text. form has the
	// received fields under their canonical names. If Page is nil, the handler writes a
	// plain page.
	Page func(w http.ResponseWriter, r *http.Request, status int, title, text string, form url.Values)
	Log  *slog.Logger // internal failures; nil: no log
}

// ServeHTTP serves one request.
func (h *FormHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	switch r.Method {
	case http.MethodGet, http.MethodPost:
	case http.MethodHead:
		// A HEAD request must have no effect, so the page shows no result.
		h.page(w, r, http.StatusOK, "", "", nil)
		return
	default:
		head.Set("Allow", "GET, HEAD, POST")
		h.page(w, r, http.StatusMethodNotAllowed, "Not a ping", "Send a GET or POST with the fields name and url.", nil)
		return
	}
	form, err := readForm(r)
	if err == nil && len(form) == 0 && r.Method == http.MethodGet {
		h.page(w, r, http.StatusOK, "Ping", "Announce that a site has changed.", nil)
		return
	}
	var p Ping
	if err == nil {
		p, err = pingOf(form)
	}
	if err == nil {
		err = h.Backend.Ping(wirehttp.WithRequest(r.Context(), r), InterfaceForm, p)
	}
	if err != nil {
		h.refuse(w, r, err, form)
		return
	}
	h.page(w, r, http.StatusOK, "Thanks", fmt.Sprintf("Thanks for the ping. %s is listed among the changes.", p.Title()), form)
}

// refuse writes the page for an error.
func (h *FormHandler) refuse(w http.ResponseWriter, r *http.Request, err error, form url.Values) {
	status := http.StatusBadRequest
	if e, ok := errors.AsType[*Error](err); ok {
		status = cmp.Or(e.Status, status)
		wirehttp.SetRetryAfter(w.Header(), e.RetryAfter)
	} else if _, ok := errors.AsType[*FieldError](err); !ok {
		status = http.StatusInternalServerError
		if h.Log != nil {
			h.Log.ErrorContext(r.Context(), "ping failed", "path", r.URL.Path, "err", err)
		}
	}
	if status == http.StatusRequestEntityTooLarge {
		w.Header().Set("Connection", "close") // the body was not read to its end, so the connection cannot be reused
	}
	h.page(w, r, status, "Ping refused", ResultOf(err).Message, form)
}

func (h *FormHandler) page(w http.ResponseWriter, r *http.Request, status int, title, text string, form url.Values) {
	if form == nil {
		form = url.Values{}
	}
	if h.Page != nil {
		h.Page(w, r, status, title, text, form)
		return
	}
	body := plainPage(title, text, form)
	head := w.Header()
	head.Set("Content-Type", "text/html; charset=utf-8")
	head.Set("Content-Security-Policy", "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	head.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	// A write error means that the client has disconnected.
	_, _ = io.WriteString(w, body)
}

// plainPage returns a page without external resources. URLs on it are not links, because unknown
// clients choose them.
func plainPage(title, text string, form url.Values) string {
	title = cmp.Or(title, "Ping")
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>%s</title>\n<h1>%[1]s</h1>\n", html.EscapeString(title))
	if text != "" {
		fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(text))
	}
	b.WriteString("<form method=\"post\">\n")
	for _, f := range [...]struct{ name, label string }{
		{"name", "Name of the site"}, {"url", "Address of its home page"},
		{"changesURL", "Address of the page that changed, if it is another"}, {"rssUrl", "Address of its feed, if you know it"},
	} {
		fmt.Fprintf(&b, "<p><label>%s<br><input name=\"%s\" size=\"60\" value=\"%s\"></label>\n", f.label, f.name, html.EscapeString(form.Get(f.name)))
	}
	b.WriteString("<p><button>Ping</button>\n</form>\n</html>\n")
	return b.String()
}

// readForm returns the known fields under their canonical names, trimmed. An invalid form
// is rejected as a whole.
func readForm(r *http.Request) (url.Values, error) {
	raw := r.URL.RawQuery
	if r.Method == http.MethodPost {
		body, err := readBody(r)
		if err != nil {
			return nil, err
		}
		if body != "" {
			raw = body
		}
	}
	if len(raw) > MaxForm {
		return nil, tooLarge()
	}
	if strings.Count(raw, "&") >= maxFields {
		return nil, fieldErr("", "The form has more than %d fields, which is the limit.", maxFields)
	}
	all, err := url.ParseQuery(raw)
	if err != nil {
		return nil, fieldErr("", "The form cannot be read: write %% as %%25, & between fields and ; as %%3B.")
	}
	form := url.Values{}
	for given, values := range all {
		name := fieldName(given)
		if name == "" {
			continue
		}
		for _, v := range values {
			v = strings.TrimSpace(v)
			if form.Has(name) && form.Get(name) != v {
				return nil, fieldErr(name, "The form has %s twice, as %s and as %s; send it once.", name, quote(form.Get(name)), quote(v))
			}
			form.Set(name, v)
		}
	}
	if name := form.Get("name"); !utf8.ValidString(name) {
		form.Set("name", charset.Decode([]byte(name), "").Text)
	}
	return form, nil
}

// fieldName returns the canonical name of a field, or "" if the field is unknown.
func fieldName(given string) string {
	switch strings.ToLower(given) {
	case "name":
		return "name"
	case "url":
		return "url"
	case "changesurl":
		return "changesURL"
	case "rssurl", "feed", "feedurl":
		return "rssUrl"
	}
	return ""
}

func tooLarge() error {
	return &Error{Status: http.StatusRequestEntityTooLarge, Msg: fmt.Sprintf("The form is larger than %d KiB, which is the limit.", MaxForm>>10)}
}

func readBody(r *http.Request) (string, error) {
	if enc := strings.TrimSpace(r.Header.Get("Content-Encoding")); enc != "" && !strings.EqualFold(enc, "identity") {
		return "", &Error{Status: http.StatusUnsupportedMediaType, Msg: "The form is encoded; send it without Content-Encoding."}
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "", "text/plain", "application/x-www-form-urlencoded":
	default:
		return "", &Error{Status: http.StatusUnsupportedMediaType, Msg: fmt.Sprintf("The body is %s; send a form as application/x-www-form-urlencoded.", quote(kind))}
	}
	if r.ContentLength > MaxForm {
		return "", tooLarge()
	}
	if r.Body == nil {
		return "", nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxForm+1))
	if _, over := errors.AsType[*http.MaxBytesError](err); over || len(body) > MaxForm {
		return "", tooLarge()
	}
	if err != nil {
		return "", &Error{Msg: "The form ended early; send it again.", Err: err}
	}
	return strings.Trim(string(body), "\r\n"), nil
}

// pingOf returns the ping of a form. The error is a [*FieldError].
func pingOf(form url.Values) (Ping, error) {
	return checked(Ping{
		Name: line(form.Get("name")), URL: form.Get("url"),
		ChangesURL: form.Get("changesURL"), FeedURL: form.Get("rssUrl"),
	})
}
