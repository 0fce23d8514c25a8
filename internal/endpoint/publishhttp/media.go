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
)

// Media are the files that people put beside their posts, as they are read;
// *author.Files is one.
type Media interface {
	// Open opens a file by the first 16 or more digits of its hash; fault.NotFound.
	Open(ctx context.Context, user, hash string) (author.File, io.ReadSeekCloser, error)
	Path(f author.File) string
}

// pathMedia is what the addresses of files begin with, behind the user's.
const pathMedia = "media/"

// mediaPause is how long a reader of a file may take nothing.
const mediaPause = 30 * time.Second

// media answers for /<user>/media/<hash>/<name>. What the hash says never changes, so
// everybody may keep it for good.
//
// spec:cloudburst#media-addresses
func (f *Feeds) media(w http.ResponseWriter, r *http.Request, user, rest string) {
	if f.Media == nil {
		f.next(w, r)
		return
	}
	if !reading(w, r, false) {
		return
	}
	if r.Method == http.MethodOptions {
		preflight(w, false)
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
	if path := f.Media.Path(file); path != r.URL.Path { // one file has one address
		http.Redirect(w, r, path, http.StatusMovedPermanently)
		return
	}
	mediaHeader(w.Header(), file)
	http.ServeContent(paced{w}, r, "", file.AddedAt, content)
}

// mediaHeader says what a file is, and that nothing in it may be run: authors choose the
// bytes, and the address is of the same origin as the pages.
func mediaHeader(head http.Header, file author.File) {
	place := "inline"
	if !media.Inline(file.Type) {
		place = "attachment"
	}
	policy := "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'"
	if file.Type == "application/pdf" {
		// Browsers show no PDF in a sandbox; their viewers are one.
		policy = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'"
	}
	head.Set("Content-Type", file.Type)
	head.Set("Content-Disposition", place+`; filename="`+file.Name+`"`) // of letters, digits, ., _ and - only
	head.Set("ETag", `"`+file.Hash+`"`)
	head.Set("Cache-Control", "public, max-age=31536000, immutable")
	head.Set("Content-Security-Policy", policy)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Access-Control-Allow-Origin", "*")
	head.Set("Cross-Origin-Resource-Policy", "cross-origin")
}

// paced gives each piece of a long answer time of its own.
type paced struct{ http.ResponseWriter }

func (p paced) Write(b []byte) (int, error) {
	// Where the deadline cannot be set, the server's own holds.
	_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(time.Now().Add(mediaPause))
	return p.ResponseWriter.Write(b)
}
