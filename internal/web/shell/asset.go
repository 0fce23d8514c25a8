package shell

import (
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

//go:embed static
var staticFiles embed.FS

//go:embed worker
var workerScript embed.FS

// asset is one static file. packed compresses it with gzip at the first call, so that a start does
// not wait for it.
type asset struct {
	contentType string
	plain       []byte
	packed      func() []byte
}

func newAsset(ext string, plain []byte, level int) asset {
	return asset{typeOf(ext), plain, sync.OnceValue(func() []byte { return compress(plain, level) })}
}

// assets holds the static files by their hashed names, name.hash.ext, and the hashed URL of each
// name.
type assets struct {
	byURL map[string]asset
	urls  map[string]string // key: name, such as "base.css"; value: path, such as "/static/base.1a2b3c4d5e6f.css"

	light, dark palette // colours of base.css
}

// commentLine matches a line of a script that is only a comment. Browsers do not load these lines.
var commentLine = regexp.MustCompile(`(?m)^[ \t]*//.*\n`)

// loadAssets returns the assets of the process. They are read-only.
var loadAssets = sync.OnceValue(func() assets {
	a := assets{byURL: map[string]asset{}, urls: map[string]string{}}
	a.light, a.dark = palettes("base.css")
	entries, _ := fs.ReadDir(staticFiles, "static") // cannot fail: the folder is embedded
	for _, e := range entries {
		b, _ := staticFiles.ReadFile("static/" + e.Name())
		sum := sha256.Sum256(b)
		ext := path.Ext(e.Name())
		hashed := strings.TrimSuffix(e.Name(), ext) + "." + hex.EncodeToString(sum[:6]) + ext
		if ext == ".js" {
			b = commentLine.ReplaceAll(b, nil)
		}
		a.byURL[hashed] = newAsset(ext, b, gzip.BestCompression)
		a.urls[e.Name()] = "/static/" + hashed
	}
	return a
})

// typeOf returns the media type for a file extension. It does not use the type table of the
// operating system, which differs between machines.
func typeOf(ext string) string {
	switch ext {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	}
	return mime.TypeByExtension(ext)
}

func (a assets) url(name string) string { return a.urls[name] }

// asset serves a static file. Its name contains a hash of its content, so caches may store it
// forever.
func (s *Shell) asset(rw http.ResponseWriter, r *http.Request) {
	f, ok := s.assets.byURL[r.PathValue("file")]
	if !ok {
		_ = s.Problem(rw, r, http.StatusNotFound, "File not found", "This file belongs to another version of the program. Reload the page.")
		return
	}
	serve(rw, r, f, "public, max-age=31536000, immutable")
}

func (s *Shell) favicon(rw http.ResponseWriter, r *http.Request) {
	f := s.assets.byURL[strings.TrimPrefix(s.assets.url("favicon.svg"), "/static/")]
	serve(rw, r, f, "public, max-age=86400")
}

func serve(rw http.ResponseWriter, r *http.Request, f asset, cache string) {
	h := rw.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", cache)
	h.Add("Vary", "Accept-Encoding")
	b := f.plain
	if acceptsGzip(r) {
		b = f.packed()
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(b)))
	_, _ = rw.Write(b)
}

// AssetURLs returns the paths of all static files by name: "base.css" to
// "/static/base.1a2b3c4d5e6f.css".
func AssetURLs() map[string]string { return maps.Clone(loadAssets().urls) }
