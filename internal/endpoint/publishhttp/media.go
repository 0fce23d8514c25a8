package publishhttp

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/media"
	"cloudburst/internal/serve"
)

// Media reads the files of posts. [*upload.Files] implements it.
type Media interface {
	// Open opens a file by at least the first 16 digits of its hash. It returns fault.NotFound for
	// an unknown file.
	Open(ctx context.Context, user, hash string) (author.File, io.ReadSeekCloser, error)
	Path(f author.File) string
	// InGroup reports whether a private post for a group uses a file.
	InGroup(ctx context.Context, f author.File, slug string) (bool, error)
}

// pathMedia is the prefix of file paths, after the user.
const pathMedia = "media/"

// mediaPause is the time limit of one write to a client.
const mediaPause = 30 * time.Second

// media serves /<user>/media/<hash>/<name>. A URL contains the hash of the content, which therefore
// never changes, so caches may keep it forever.
//
// spec:cloudburst#media-addresses
func (f *Feeds) media(w http.ResponseWriter, r *http.Request, user, rest string) {
	if f.Media == nil {
		f.next(w, r)
		return
	}
	if !allowRead(w, r, false) {
		return
	}
	hash, name, ok := strings.Cut(strings.TrimPrefix(rest, pathMedia), "/")
	if !ok || name == "" || strings.Contains(name, "/") {
		f.refuse(w, r, fault.New(fault.NotFound, "There is no such file."))
		return
	}
	file, content, err := f.Media.Open(r.Context(), user, hash)
	if err != nil {
		f.refuse(w, r, err)
		return
	}
	defer content.Close()
	if file.Private && (f.SignedIn == nil || f.SignedIn(r) != user) {
		f.refuse(w, r, fault.New(fault.NotFound, "There is no such file."))
		return
	}
	if path := f.Media.Path(file); path != r.URL.Path { // redirect, so that each file has one URL only
		http.Redirect(w, r, path, http.StatusMovedPermanently)
		return
	}
	mediaHeader(w.Header(), file)
	w.Header().Set(serve.CacheTag, serve.AuthorTag(user))
	if file.Private {
		hideMedia(w.Header(), "same-origin")
	}
	http.ServeContent(paced{w}, r, "", file.AddedAt, content)
}

// privateMedia serves a file to readers of a group. The caller has checked the access. A private
// file is served only if a post for this group uses it.
func (f *Feeds) privateMedia(w http.ResponseWriter, r *http.Request, user string, p privatePath) {
	none := fault.New(fault.NotFound, "There is no such file.")
	hash, name, _ := strings.Cut(strings.TrimPrefix(p.document, pathMedia), "/")
	file, content, err := f.Media.Open(r.Context(), user, hash)
	if err != nil {
		f.refuse(w, r, err)
		return
	}
	defer content.Close()
	used := !file.Private
	if !used {
		used, err = f.Media.InGroup(r.Context(), file, p.slug)
	}
	switch {
	case err != nil:
		f.refuse(w, r, err)
		return
	case !used, f.Media.Path(file) != "/"+user+"/"+pathMedia+hash+"/"+name:
		f.refuse(w, r, none)
		return
	}
	mediaHeader(w.Header(), file)
	policy := "same-origin" // for the same reason as in private
	if p.named {
		policy = "cross-origin"
	}
	hideMedia(w.Header(), policy)
	http.ServeContent(paced{w}, r, "", file.AddedAt, content)
}

// hideMedia keeps a private file out of shared caches and of pages of other sites.
func hideMedia(head http.Header, policy string) {
	head.Set("Cache-Control", "private, no-cache")
	head.Set("Cross-Origin-Resource-Policy", policy)
	head.Del("Access-Control-Allow-Origin")
	head.Del(serve.CacheTag)
}

// mediaHeader sets the type of a file and keeps browsers from executing its content: users choose
// the content, and the pages have the same origin.
func mediaHeader(head http.Header, file author.File) {
	place := "inline"
	if !media.Inline(file.Type) {
		place = "attachment"
	}
	policy := "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'"
	if file.Type == "application/pdf" {
		// Browsers do not show a PDF file inside a sandbox, but their PDF viewers are sandboxes
		// themselves.
		policy = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'"
	}
	head.Set("Content-Type", file.Type)
	head.Set("Content-Disposition", place+`; filename="`+file.Name+`"`) // the name contains only letters, digits, ., _ and -
	head.Set("ETag", `"`+file.Hash+`"`)
	head.Set("Cache-Control", "public, max-age=31536000, immutable")
	head.Set("Content-Security-Policy", policy)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Access-Control-Allow-Origin", "*")
	head.Set("Cross-Origin-Resource-Policy", "cross-origin")
}

// paced is a ResponseWriter that extends the write deadline before each write of a long response.
type paced struct{ http.ResponseWriter }

func (p paced) Write(b []byte) (int, error) {
	// If the deadline cannot be set, the server's own deadline applies.
	_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(time.Now().Add(mediaPause))
	return p.ResponseWriter.Write(b)
}
