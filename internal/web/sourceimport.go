package web

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
)

const (
	maxImport     = 20 << 20 // bytes of a list
	importsAtOnce = 4        // lists in memory
	keptImports   = 64       // outcomes that are shown once more
	mostWaiting   = 200      // new feeds that are counted: the page is made anew every other second
)

type importView struct {
	followView
	URL, URLError string
	FileError     string
	Category      string
	Follow        bool
	Categories    []categoryLink
}

// importPage takes lists in and gives them out.
func (s *site) importPage(rw http.ResponseWriter, r *http.Request, reader string, _ access) {
	v := importView{Follow: r.URL.Query().Get("follow") == "1", URL: clean(r.URL.Query().Get("url"), 2048)}
	s.showImport(rw, r, reader, http.StatusOK, v)
}

func (s *site) showImport(rw http.ResponseWriter, r *http.Request, reader string, status int, v importView) {
	v.followView = s.followView(r, "Import and export", "import")
	categories, err := s.River.Categories(r.Context(), reader, false)
	if err != nil {
		s.fail(rw, r, err)
		return
	}
	for _, c := range categories[:min(len(categories), mostChoices)] {
		v.Categories = append(v.Categories, categoryLink{Name: c.Name, Count: c.Sources, Href: "/feeds/export.opml?" + url.Values{"category": {c.Name}}.Encode()})
	}
	s.render(rw, r, status, "sourceimport", v)
}

// importForm is a list, or its address, as it was sent.
type importForm struct {
	doc           []byte // nil: no file
	url, category string
	follow        bool
}

// imports has a place for each list that is taken in now, and what came of the last.
type imports struct {
	places chan struct{}
	mu     sync.Mutex
	byID   map[string]importDone
	order  []string
}

type importDone struct {
	reader string
	river.Imported
}

func newImports() *imports {
	return &imports{places: make(chan struct{}, importsAtOnce), byID: map[string]importDone{}}
}

func (i *imports) put(d importDone) (id string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	id = rand.Text()
	i.byID[id] = d
	if i.order = append(i.order, id); len(i.order) > keptImports {
		delete(i.byID, i.order[0])
		i.order = i.order[1:]
	}
	return id
}

func (i *imports) get(reader, id string) (importDone, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	d, ok := i.byID[id]
	return d, ok && d.reader == reader
}

// doImport follows what a list has. The feeds are read afterwards; how far that is, the
// page tells that it leads to.
func (s *site) doImport(rw http.ResponseWriter, r *http.Request, reader string, _ access) {
	select {
	case s.imports.places <- struct{}{}:
		defer func() { <-s.imports.places }()
	default:
		s.fail(rw, r, &fault.Error{Code: fault.Unavailable, Msg: "Several lists are being taken in at this moment. Nothing was done.", RetryAfter: 10 * time.Second})
		return
	}
	// Where the deadlines cannot be set, the server's own hold.
	rc := http.NewResponseController(rw)
	_, _ = rc.SetReadDeadline(time.Now().Add(uploadWithin)), rc.SetWriteDeadline(time.Now().Add(uploadWithin+doneWithin))
	form, err := readImport(rw, r)
	v := importView{URL: clean(form.url, 2048), Category: clean(form.category, 200), Follow: form.follow}
	if err != nil {
		v.FileError = reason(err)
		s.showImport(rw, r, reader, http.StatusBadRequest, v)
		return
	}
	o := river.ImportOptions{Category: v.Category}
	var doc io.Reader
	switch {
	case form.doc != nil:
		doc = bytes.NewReader(form.doc)
	case form.url == "":
		v.FileError = "Choose a file, or write the address of a list."
		s.showImport(rw, r, reader, http.StatusBadRequest, v)
		return
	default:
		o.URL, o.Follow = plainAddress(form.url), form.follow
	}
	done, err := s.River.Import(r.Context(), reader, doc, o)
	if err != nil {
		status, _ := statusOf(err)
		s.note(r, err, status)
		retryAfter(rw, err)
		if v.FileError = reason(err); doc == nil {
			v.FileError, v.URLError = "", v.FileError
		}
		s.showImport(rw, r, reader, status, v)
		return
	}
	http.Redirect(rw, r, "/feeds/import/"+s.imports.put(importDone{reader, done}), http.StatusSeeOther)
}

// readImport reads the form with a list in it, whole or not at all.
func readImport(rw http.ResponseWriter, r *http.Request) (f importForm, err error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "multipart/form-data" {
		form, err := readForm(rw, r)
		if err != nil {
			return f, err
		}
		for _, field := range form {
			f.set(field.Name, []byte(field.Value))
		}
		return f, nil
	}
	r.Body = http.MaxBytesReader(rw, r.Body, maxImport+formSlack)
	parts, err := r.MultipartReader()
	for n := 0; err == nil && n < 20; n++ {
		var part *multipart.Part
		if part, err = parts.NextPart(); errors.Is(err, io.EOF) {
			return f, nil
		}
		if err != nil {
			break
		}
		var b []byte
		limit := int64(formSlack)
		if part.FormName() == "file" {
			limit = maxImport + 1
		}
		if b, err = io.ReadAll(io.LimitReader(part, limit)); err != nil {
			break
		}
		if part.FormName() == "file" && part.FileName() == "" {
			continue // no file was chosen
		}
		if len(b) > maxImport {
			err = &http.MaxBytesError{Limit: maxImport}
			break
		}
		f.set(part.FormName(), b)
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return importForm{url: f.url, category: f.category, follow: f.follow}, fault.New(fault.Invalid, "The file is larger than 20 MiB, which is the most that is read. Split it, or give its address.")
	}
	return f, fault.Wrap(fault.Invalid, err, "The form could not be read. Choose the file and send it again.")
}

func (f *importForm) set(name string, value []byte) {
	switch name {
	case "file":
		f.doc = value
	case "url":
		f.url = strings.TrimSpace(clean(string(value), 2048))
	case "category":
		f.category = strings.TrimSpace(clean(string(value), 200))
	case "follow":
		f.follow = string(value) == "yes"
	}
}

type importedView struct {
	followView
	Known    bool // what came of it is still kept
	Done     river.Imported
	Lead     string
	Left     int  // new feeds that were not read yet
	More     bool // there are more than Left
	Read     int
	Finished bool
	Problems []string
}

// importedPage says what came of an import, and how many of the new feeds were read.
func (s *site) importedPage(rw http.ResponseWriter, r *http.Request, reader string, _ access) {
	v := importedView{followView: s.followView(r, "Import", "import")}
	var done importDone
	done, v.Known = s.imports.get(reader, r.PathValue("id"))
	v.Done = done.Imported
	waiting, err := s.River.Subscriptions(r.Context(), river.SubscriptionQuery{Reader: reader, Waiting: true, Limit: mostWaiting + 1})
	if err != nil {
		s.fail(rw, r, err)
		return
	}
	v.Left, v.More = min(len(waiting), mostWaiting), len(waiting) > mostWaiting
	v.Finished = v.Left == 0
	if v.Read = max(v.Done.Added-v.Left, 0); v.More {
		v.Read = 0
	}
	v.Lead = "The list is taken in."
	if v.Known {
		v.Lead = importedWords(v.Done)
	}
	for _, p := range v.Done.Problems[:min(len(v.Done.Problems), 100)] {
		v.Problems = append(v.Problems, sentence(p))
	}
	if !v.Finished {
		v.Script = "status.js"
	}
	s.render(rw, r, http.StatusOK, "imported", v)
}

// importedWords says in sentences what came of a list.
func importedWords(d river.Imported) string {
	name := ""
	if d.Title != "" {
		name = " “" + clean(d.Title, 100) + "”"
	}
	if d.Found == 0 && d.Lists == 0 {
		return "The list" + name + " has no feeds."
	}
	s := "The list" + name + " has " + some(d.Found, "feed", "feeds") + ". "
	switch {
	case d.Found == 1 && d.Skipped == 0:
		s += "You follow it" + map[bool]string{true: " now.", false: " already."}[d.Added == 1]
	case d.Added == 0 && d.Found > 0:
		s += "You follow all of them already."
	case d.Had == 0 && d.Skipped == 0:
		s += "You follow all of them now."
	default:
		s += "You follow " + count(d.Added) + " of them now that you did not follow before."
	}
	if d.Had > 0 && d.Added > 0 {
		s += " " + count(d.Had) + " you followed already."
	}
	if d.Skipped > 0 {
		s += " " + some(d.Skipped, "has", "have") + " no usable address and " + wasWere(d.Skipped) + " left out."
	}
	if d.Lists > 0 {
		s += " The list itself is followed: what it gains you will follow too."
	}
	return s
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// export is what the reader follows, as a list for other programs.
func (s *site) export(rw http.ResponseWriter, r *http.Request, reader string, _ access) {
	category := r.URL.Query().Get("category")
	d, err := s.River.Export(r.Context(), reader, category)
	if err != nil {
		s.fail(rw, r, err)
		return
	}
	var out bytes.Buffer
	if _, err := d.WriteTo(&out); err != nil {
		s.fail(rw, r, err)
		return
	}
	rw.Header().Set("Content-Type", "text/x-opml; charset=utf-8")
	rw.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": exportName(category)}))
	_, _ = rw.Write(out.Bytes())
}

// exportName is a name for a file that every system takes.
func exportName(category string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(category) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			b.WriteRune(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 40 {
			break
		}
	}
	if name := strings.Trim(b.String(), "-"); name != "" {
		return "feeds-" + name + ".opml"
	}
	return "feeds.opml"
}
