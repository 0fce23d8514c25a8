package greader

import (
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// form contains the parameters of a request by name.
type form map[string][]string

// get returns the first value of a name.
func (f form) get(name string) string {
	if list := f[name]; len(list) > 0 {
		return list[0]
	}
	return ""
}

// readForm reads the query and the body of a POST. Values of the body come first.
func readForm(w http.ResponseWriter, r *http.Request) (form, error) {
	f := form{}
	if r.Method == http.MethodPost && formType(r.Header.Get("Content-Type")) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
		if err != nil {
			return nil, &Error{Status: http.StatusRequestEntityTooLarge, Msg: "The body is incomplete or larger than 1 MiB."}
		}
		if !f.add(string(body)) {
			return nil, tooManyFields()
		}
	}
	if !f.add(r.URL.RawQuery) {
		return nil, tooManyFields()
	}
	return f, nil
}

func tooManyFields() error {
	return &Error{Status: http.StatusBadRequest, Msg: "The request has too many fields."}
}

// formType reports whether the Content-Type permits a form. Apps do not always set it.
func formType(s string) bool {
	kind, _, _ := mime.ParseMediaType(s)
	switch kind {
	case "", "application/x-www-form-urlencoded", "text/plain", "application/octet-stream":
		return true
	}
	return false
}

// add adds the pairs of a query. It returns false if there are too many.
func (f form) add(query string) bool {
	n := 0
	for _, list := range f {
		n += len(list)
	}
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		if n++; n > MaxFields {
			return false
		}
		name, value, _ := strings.Cut(pair, "=")
		name = unescaped(name)
		f[name] = append(f[name], unescaped(value))
	}
	return true
}

// unescaped decodes percent-encoding. Some apps send names of folders without encoding, so a
// percent sign that starts no valid escape stays unchanged.
func unescaped(s string) string {
	out, err := url.QueryUnescape(s)
	if err != nil {
		out = decodeLoosely(strings.ReplaceAll(s, "+", " "))
	}
	return strings.ToValidUTF8(out, "\uFFFD")
}

func decodeLoosely(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if one, err := url.PathUnescape(s[i : i+3]); err == nil {
				b.WriteString(one)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
