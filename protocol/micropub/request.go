package micropub

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"cloudburst/internal/text"
)

// fieldToken is the form field that may contain the token.
const fieldToken = "access_token"

// Upload is a file in a request.
type Upload struct {
	Property string // name of the property: photo, video …; "file" at a media endpoint
	Name     string // file name as sent by the program; may be anything
	Type     string // media type as sent by the program; "": unknown
	// Token is the token in the form before the file; "": none.
	Token string
	io.Reader
}

// StoreFunc reads a file to its end, stores it, and returns its URL.
type StoreFunc func(f *Upload) (url string, err error)

// ReadRequest reads a request in any format. token is the value of the form field
// access_token; the Authorization header is not read. ReadRequest calls store for each
// file, in order; if store is nil, files are rejected. The error is an [*Error], or that of
// store or of the connection.
//
// spec:micropub-2017#form
// spec:micropub-2017#json
func ReadRequest(r *http.Request, store StoreFunc) (req *Request, token string, err error) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.Header.Get("Content-Type") == "" {
		kind, err = "application/x-www-form-urlencoded", nil
	}
	switch {
	case err != nil:
	case kind == "application/json":
		body, err := readAll(r.Body)
		if err != nil {
			return nil, "", err
		}
		req, err = ParseJSON(body)
		return req, "", err
	case kind == "application/x-www-form-urlencoded":
		body, err := readAll(r.Body)
		if err != nil {
			return nil, "", err
		}
		values, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, "", invalid("The form is invalid: %v.", err)
		}
		return ParseForm(values)
	case kind == "multipart/form-data" && params["boundary"] != "":
		values, err := readMultipart(multipart.NewReader(r.Body, params["boundary"]), store)
		if err != nil {
			return nil, "", err
		}
		return ParseForm(values)
	}
	return nil, "", &Error{Status: http.StatusUnsupportedMediaType, Code: InvalidRequest,
		Description: "The request is neither a form (application/x-www-form-urlencoded, multipart/form-data) nor application/json."}
}

// readAll reads a request without files.
func readAll(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxBody+1))
	switch {
	case err != nil:
		return nil, &Error{Status: http.StatusBadRequest, Code: InvalidRequest, Description: "The request arrived incomplete."}
	case len(b) > MaxBody:
		return nil, tooLarge()
	}
	return b, nil
}

// readMultipart reads the fields of a form and stores its files.
func readMultipart(r *multipart.Reader, store StoreFunc) (url.Values, error) {
	values := url.Values{}
	size, files, fields := 0, 0, 0
	for {
		part, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			return values, nil
		}
		if err != nil {
			return nil, formError(err)
		}
		name := part.FormName()
		if fields++; fields > MaxFields {
			return nil, invalid("The form has more than %d fields.", MaxFields)
		}
		if part.FileName() == "" {
			b, err := io.ReadAll(io.LimitReader(part, int64(MaxBody-size+1)))
			if err != nil {
				return nil, formError(err)
			}
			if size += len(b) + len(name); size > MaxBody {
				return nil, tooLarge()
			}
			values.Add(name, string(b))
			continue
		}
		if files++; files > MaxFiles {
			return nil, invalid("The form has more than %d files.", MaxFiles)
		}
		at, err := storePart(part, name, values.Get(fieldToken), store)
		if err != nil {
			return nil, err
		}
		values.Add(name, at)
	}
}

// formError converts an error of reading a form.
func formError(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return err
	}
	return invalid("The form arrived incomplete or is not a multipart form.")
}

func storePart(part *multipart.Part, name, token string, store StoreFunc) (string, error) {
	if store == nil {
		return "", invalid("This endpoint accepts no files; send them to the media endpoint.")
	}
	kind, _, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
	if err != nil || kind == "application/octet-stream" {
		kind = "" // the program does not know the media type
	}
	return store(&Upload{Property: strings.TrimSuffix(name, "[]"), Name: part.FileName(), Type: kind, Token: token, Reader: part})
}

// ParseForm parses a request sent as a form. The error is an [*Error].
//
// spec:micropub-2017#form
// spec:micropub-2017#form-arrays
func ParseForm(values url.Values) (req *Request, token string, err error) {
	req = &Request{Action: Create, Properties: Properties{}}
	n := 0
	for name, list := range values {
		if n += len(list); n > MaxFields {
			return nil, "", invalid("The form has more than %d fields.", MaxFields)
		}
		if !clean(name) || slices.ContainsFunc(list, func(s string) bool { return !clean(s) }) {
			return nil, "", invalid("The field %q is not UTF-8 text.", text.Clip(name, 60))
		}
	}
	one := func(name string) string {
		list := values[name]
		if len(list) > 1 && err == nil {
			err = invalid("The field %s occurs more than once.", name)
		}
		if len(list) == 0 {
			return ""
		}
		return list[0]
	}
	token = one(fieldToken)
	action := one("action")
	// spec:micropub-2017#default-type
	if req.Type = "h-entry"; one("h") != "" {
		req.Type = "h-" + one("h")
	}
	if action == "" || action == string(Create) {
		fillForm(req, values)
	} else {
		req.Action, req.URL, req.Type, req.Properties = Action(action), one("url"), "", nil
	}
	switch {
	case err != nil:
		return nil, "", err
	case req.Action == Update:
		return nil, "", invalid("An update has to be sent as JSON.")
	}
	return req, token, req.check()
}

// fillForm sets the properties from the fields of a form.
//
// spec:cloudburst#micropub-form-parts
func fillForm(req *Request, values url.Values) {
	content, parted := contentParts(values)
	for name, list := range values {
		if name == "h" || name == "action" || name == fieldToken || isContentPart(name) {
			continue
		}
		name = strings.TrimSuffix(name, "[]")
		paired := name == "photo" || name == commandAlt // an empty value keeps the others at their positions
		for _, s := range list {
			if s != "" || paired || len(list) == 1 && name == "content" {
				req.Properties[name] = append(req.Properties[name], Text(s))
			}
		}
	}
	if parted {
		req.Properties["content"] = []Value{content}
	}
	req.split()
	photos := slices.DeleteFunc(req.Properties["photo"], func(v Value) bool { return v.Text == "" })
	if req.Properties["photo"] = photos; len(photos) == 0 {
		delete(req.Properties, "photo")
	}
}

// isContentPart reports whether a form field is a part of the content.
func isContentPart(name string) bool {
	return name == "content[html]" || name == "content[markdown]" || name == "content[value]"
}

// contentParts returns the content of a form that has it in parts, which are named like the members of
// the JSON object.
func contentParts(values url.Values) (v Value, parted bool) {
	for name := range values {
		parted = parted || isContentPart(name)
	}
	v = Value{HTML: values.Get("content[html]"), Text: cmp.Or(values.Get("content[value]"), values.Get("content"))}
	if markdown := values.Get("content[markdown]"); v.HTML == "" && markdown != "" {
		v = Value{Markdown: markdown}
	}
	return v, parted
}

// requestJSON is the JSON of a request.
type requestJSON struct {
	Type       json.RawMessage            `json:"type"`
	Properties map[string]json.RawMessage `json:"properties"`
	Action     *string                    `json:"action"`
	URL        string                     `json:"url"`
	Replace    map[string]json.RawMessage `json:"replace"`
	Add        map[string]json.RawMessage `json:"add"`
	Delete     json.RawMessage            `json:"delete"`
}

// ParseJSON parses a request sent as JSON. The error is an [*Error].
//
// spec:micropub-2017#json
func ParseJSON(b []byte) (*Request, error) {
	if depth(b) > MaxDepth {
		return nil, invalid("The JSON has more than %d levels of objects and lists.", MaxDepth)
	}
	var in requestJSON
	if err := json.Unmarshal(b, &in); err != nil {
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			if e.Field == "" {
				return nil, invalid("The JSON must be an object, not %s.", e.Value)
			}
			return nil, invalid("%s has the wrong type: %s.", text.Clip(e.Field, 60), e.Value)
		}
		return nil, malformed(err)
	}
	if !clean(in.URL) {
		return nil, errNUL()
	}
	req, n := &Request{Action: Create, URL: in.URL}, 0
	if in.Action != nil {
		req.Action = Action(*in.Action)
	}
	var err error
	switch req.Action {
	case Create:
		err = readCreate(req, &in, &n)
	case Update:
		err = readUpdate(req, &in, &n)
	}
	if err == nil && req.Action != Create {
		err = readCommands(req, b, &n)
	}
	if err != nil {
		return nil, err
	}
	return req, req.check()
}

func readCreate(req *Request, in *requestJSON, n *int) error {
	req.URL = ""
	types, err := readType(in.Type)
	if err != nil {
		return err
	}
	if req.Type = "h-entry"; len(types) > 0 {
		req.Type = types[0]
	}
	if req.Properties, err = readProperties(in.Properties, "properties", n); err != nil {
		return err
	}
	req.split()
	return nil
}

// readUpdate reads the changes of an update. delete is a list of property names, or an
// object with values by property.
//
// spec:micropub-2017#update
// spec:micropub-2017#update-remove
func readUpdate(req *Request, in *requestJSON, n *int) (err error) {
	if req.Replace, err = readProperties(in.Replace, "replace", n); err != nil {
		return err
	}
	// An empty list is allowed here: it removes all values.
	for name := range in.Replace {
		if !req.Replace.Has(name) {
			req.Replace[name] = []Value{}
		}
	}
	if req.Add, err = readProperties(in.Add, "add", n); err != nil {
		return err
	}
	b := bytes.TrimSpace(in.Delete)
	switch {
	case len(b) == 0 || string(b) == "null":
	case b[0] == '[':
		if json.Unmarshal(b, &req.RemoveAll) != nil {
			return invalid("delete must be a list of property names.")
		}
	case b[0] == '{':
		var in map[string]json.RawMessage
		if err := json.Unmarshal(b, &in); err != nil {
			return malformed(err)
		}
		req.Remove, err = readProperties(in, "delete", n)
	default:
		return invalid("delete must be a list of property names or an object with the values to delete.")
	}
	for _, p := range []Properties{req.Replace, req.Add, req.Remove} {
		delete(p, fieldToken)
		if err == nil && p.Has(commandAlt) && !p.Has("photo") {
			err = invalid("%s describes photos, but there is no photo next to it.", commandAlt)
		}
		describe(p["photo"], p[commandAlt])
		delete(p, commandAlt)
	}
	return err
}

// readCommands reads the commands next to an action.
func readCommands(req *Request, b []byte, n *int) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return malformed(err)
	}
	for name, raw := range all {
		if !strings.HasPrefix(name, "mp-") {
			continue
		}
		values, err := readValues(raw, name, n)
		if err != nil {
			return err
		}
		req.command(name, values)
	}
	return nil
}

// MarshalJSON returns the JSON of the request. A request that removes both values and whole
// properties cannot be encoded.
func (r *Request) MarshalJSON() ([]byte, error) {
	if len(r.Remove) > 0 && len(r.RemoveAll) > 0 {
		return nil, errors.New("micropub: values and whole properties cannot be removed by one request")
	}
	out := map[string]any{}
	switch r.Action {
	case Create, "":
		kind := cmp.Or(r.Type, "h-entry")
		all := Properties{}
		for _, p := range []Properties{r.Properties, r.Commands} {
			maps.Copy(all, p)
		}
		out["type"], out["properties"] = []string{kind}, all
		return plain(out)
	case Update:
		for name, p := range map[string]Properties{"replace": r.Replace, "add": r.Add, "delete": r.Remove} {
			if len(p) > 0 {
				out[name] = p
			}
		}
		if len(r.RemoveAll) > 0 {
			out["delete"] = r.RemoveAll
		}
	}
	for name, values := range r.Commands {
		out[name] = values
	}
	out["action"], out["url"] = r.Action, r.URL
	return plain(out)
}
