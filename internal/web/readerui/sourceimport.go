package readerui

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
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

const (
	MaxImport        = 20 << 20    // maximum size of a list in bytes
	maxStoredImports = 64          // maximum number of imports whose results are stored
	importWait       = time.Second // how long the response to the form waits for the end of an import before it shows the progress
	maxWaiting       = 200         // maximum of importedView.Left; it is small, because the page counts again every two seconds
)

type importView struct {
	followView
	URL, URLError string
	FileError     string
	Category      string
	Follow        bool
	Categories    []categoryLink
}

// importPage shows the forms to import and export lists.
func (s *followPages) importPage(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	v := importView{Follow: r.URL.Query().Get("follow") == "1", URL: shell.CleanText(r.URL.Query().Get("url"), 2048)}
	return s.showImport(rw, r, reader, http.StatusOK, v)
}

func (s *followPages) showImport(rw http.ResponseWriter, r *http.Request, reader string, status int, v importView) error {
	v.followView = s.followView(r, "Import and export")
	categories, err := s.River.Categories(r.Context(), reader, false)
	if err != nil {
		return err
	}
	for _, c := range categories[:min(len(categories), maxChoices)] {
		v.Categories = append(v.Categories, categoryLink{Name: c.Name, Count: c.Sources, Href: "/feeds/export.opml?" + url.Values{"category": {c.Name}}.Encode()})
	}
	return s.Render(rw, r, status, "sourceimport", v)
}

// importForm holds the sent values of the form: a list, or the URL of a list.
type importForm struct {
	doc           io.Reader // the list; nil: no file was sent
	url, category string
	follow        bool
}

// imports holds the running imports and the latest results.
type imports struct {
	mu    sync.Mutex
	byID  map[string]*listImport
	order []string
}

// listImport is an import that is running or has ended.
type listImport struct {
	reader string
	came   chan struct{} // closed once the whole list was received
	ended  chan struct{} // closed when the import has ended
	river.Imported
	done, total int // imported feeds, and all feeds of the list
	finished    bool
	err         error
}

func newImports() *imports { return &imports{byID: map[string]*listImport{}} }

func (i *imports) begin(reader string) (id string, one *listImport) {
	i.mu.Lock()
	defer i.mu.Unlock()
	id = rand.Text()
	one = &listImport{reader: reader, came: make(chan struct{}), ended: make(chan struct{})}
	i.byID[id] = one
	if i.order = append(i.order, id); len(i.order) > maxStoredImports {
		delete(i.byID, i.order[0])
		i.order = i.order[1:]
	}
	return id, one
}

// progress records the progress of an import. The first call means that its list was received.
func (i *imports) progress(one *listImport, done, total int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if one.total == 0 && one.done == 0 {
		select {
		case <-one.came:
		default:
			close(one.came)
		}
	}
	one.done, one.total = done, total
}

func (i *imports) end(one *listImport, res river.Imported, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	one.Imported, one.err, one.finished = res, err, true
	close(one.ended)
}

// get returns a copy of the current state of an import.
func (i *imports) get(reader, id string) (listImport, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if one := i.byID[id]; one != nil && one.reader == reader {
		return *one, true
	}
	return listImport{}, false
}

// doImport follows the feeds of a list. A long list is imported in the background, and a page shows
// the progress. The feeds are fetched afterwards.
func (s *followPages) doImport(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	// If the deadlines cannot be set, the server's defaults apply.
	rc := http.NewResponseController(rw)
	_, _ = rc.SetReadDeadline(time.Now().Add(shell.UploadTimeout)), rc.SetWriteDeadline(time.Now().Add(shell.UploadTimeout+shell.FormTimeout))
	form, err := readImport(rw, r)
	v := importView{URL: shell.CleanText(form.url, 2048), Category: form.category, Follow: form.follow}
	if err == nil && form.doc == nil && form.url == "" {
		err = fault.New(fault.Invalid, "Choose a file, or enter the address of a list.")
	}
	if err != nil {
		v.FileError = shell.Reason(err)
		return s.showImport(rw, r, reader, http.StatusBadRequest, v)
	}
	o := river.ImportOptions{Category: v.Category}
	if form.doc == nil {
		o.URL, o.Follow = plainAddress(form.url), form.follow
	}
	id, one := s.imports.begin(reader)
	go s.importList(one, form.doc, o)
	select {
	case <-one.ended:
	case <-one.came: // the request was read completely
		select {
		case <-one.ended:
		case <-time.After(importWait):
		}
	}
	now, _ := s.imports.get(reader, id)
	if now.err == nil || now.Added > 0 {
		return shell.Redirect(rw, r, "/feeds/import/"+id)
	}
	err = now.err
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		err = tooLongList()
	}
	status := s.Refused(rw, r, err)
	if v.FileError = shell.Reason(err); form.doc == nil {
		v.FileError, v.URLError = "", v.FileError
	}
	return s.showImport(rw, r, reader, status, v)
}

// importList imports a list until it ends or the program stops.
func (s *followPages) importList(one *listImport, doc io.Reader, o river.ImportOptions) {
	ctx, cancel := s.UntilStopped()
	defer cancel()
	o.Progress = func(done, total int) { s.imports.progress(one, done, total) }
	res, err := s.River.Import(ctx, one.reader, doc, o)
	s.imports.end(one, res, err)
}

func tooLongList() error {
	return fault.New(fault.Invalid, "The file is larger than 20 MiB, the limit of this form. Split it, or enter its address.")
}

// readImport reads the form up to its list, which the caller reads.
func readImport(rw http.ResponseWriter, r *http.Request) (f importForm, err error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "multipart/form-data" {
		form, err := shell.ReadForm(rw, r)
		if err != nil {
			return f, err
		}
		for _, field := range form {
			if field.Name == "file" {
				f.doc = strings.NewReader(field.Value)
			}
			f.set(field.Name, []byte(field.Value))
		}
		return f, nil
	}
	r.Body = http.MaxBytesReader(rw, r.Body, MaxImport+shell.FormOverhead)
	parts, err := r.MultipartReader()
	for n := 0; err == nil && n < 20; n++ {
		var part *multipart.Part
		if part, err = parts.NextPart(); errors.Is(err, io.EOF) {
			return f, nil
		}
		if err != nil {
			break
		}
		if part.FormName() == "file" {
			if part.FileName() != "" { // a file was selected
				f.doc = http.MaxBytesReader(rw, part, MaxImport)
				return f, nil
			}
			continue
		}
		var b []byte
		if b, err = io.ReadAll(io.LimitReader(part, shell.FormOverhead)); err == nil {
			f.set(part.FormName(), b)
		}
	}
	return f, fault.Wrap(fault.Invalid, err, "The form could not be read. Choose the file and send it again.")
}

func (f *importForm) set(name string, value []byte) {
	switch name {
	case "url":
		f.url = strings.TrimSpace(shell.CleanText(string(value), 2048))
	case "category":
		f.category = strings.TrimSpace(shell.CleanText(string(value), maxMarks))
	case "follow":
		f.follow = string(value) == "yes"
	}
}

type importedView struct {
	followView
	Known    bool // the result is still stored
	Working  bool // the import is in progress
	At, Of   int  // imported feeds, and feeds of the list
	Done     river.Imported
	Lead     string
	Wrong    string
	Left     int  // new feeds that were not fetched yet
	More     bool // more feeds than Left were not fetched yet
	Read     int
	Finished bool
	Problems []string
}

// importedPage shows the progress of an import, then its result, and how many of the new feeds were
// fetched.
func (s *followPages) importedPage(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	v := importedView{followView: s.followView(r, "Import")}
	one, known := s.imports.get(reader, r.PathValue("id"))
	v.Known, v.Done, v.At, v.Of = known, one.Imported, one.done, one.total
	v.Working = known && !one.finished
	waiting, err := s.River.Subscriptions(r.Context(), river.SubscriptionQuery{Reader: reader, Waiting: true, Limit: maxWaiting + 1})
	if err != nil {
		return err
	}
	v.Left, v.More = min(len(waiting), maxWaiting), len(waiting) > maxWaiting
	v.Finished = v.Left == 0 && !v.Working
	if v.Read = max(v.Done.Added-v.Left, 0); v.More {
		v.Read = 0
	}
	switch {
	case v.Working:
		v.Lead = "The list is being imported."
	case one.err != nil && v.Done.Added == 0:
		v.Lead, v.Wrong = "The list was not imported.", shell.Reason(one.err)
	case one.err != nil:
		v.Lead, v.Wrong = v.Say("The list was imported in part: you follow %s more.", locale.Quantity(v.Done.Added, "feed", "feeds")), shell.Reason(one.err)
	case known:
		v.Lead = importedWords(v.Lang, v.Done)
	default:
		v.Lead = "The result of this import is not available any more. Your feeds are under “Feeds”."
	}
	for _, p := range v.Done.Problems[:min(len(v.Done.Problems), 100)] {
		v.Problems = append(v.Problems, shell.Sentence(p))
	}
	if !v.Finished {
		v.Script = "status.js"
	}
	return s.Render(rw, r, http.StatusOK, "imported", v)
}

// importedWords describes the result of an import, in a language.
func importedWords(l *locale.Locale, d river.Imported) string {
	name := ""
	if d.Title != "" {
		name = " “" + shell.CleanText(d.Title, 100) + "”"
	}
	if d.Found == 0 && d.Lists == 0 {
		return l.Say("The list%s has no feeds.", name)
	}
	s := l.Say("The list%s has %s.", name, locale.Quantity(d.Found, "feed", "feeds")) + " "
	left := d.Skipped + d.Over
	switch {
	case d.Found == 1 && left == 0:
		s += l.Words(map[bool]string{true: "You follow it now.", false: "You already follow it."}[d.Added == 1])
	case d.Added == 0 && d.Found > 0 && left == 0:
		s += l.Words("You already follow all of them.")
	case d.Had == 0 && left == 0:
		s += l.Words("You follow all of them now.")
	default:
		s += l.Say("You follow %d of them now that you did not follow before.", d.Added)
	}
	if d.Had > 0 && d.Added+left > 0 {
		s += " " + l.Say("You already followed %d.", d.Had)
	}
	if d.Skipped > 0 {
		s += " " + locale.Quantity(d.Skipped, "has no usable address and was left out.", "have no usable address and were left out.").In(l)
	}
	if d.Over > 0 {
		s += " " + l.Say("%s not added, because this server allows each user %d feeds (river.max-feeds).", locale.Quantity(d.Over, "feed was", "feeds were"), d.Limit)
	}
	if d.Lists > 0 {
		s += " " + l.Words("You also follow the list: feeds added to it are followed for you.")
	}
	return s
}

// export sends the followed feeds as a list for other programs.
func (s *followPages) export(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	category := r.URL.Query().Get("category")
	d, err := s.River.Export(r.Context(), reader, category)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if _, err := d.WriteTo(&out); err != nil {
		return err
	}
	rw.Header().Set("Content-Type", "text/x-opml; charset=utf-8")
	rw.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": exportName(category)}))
	_, _ = rw.Write(out.Bytes())
	return nil
}

// exportName returns a file name that is valid on every system.
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
