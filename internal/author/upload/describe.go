package upload

import (
	"context"
	"io"
	"math"
	"mime"
	"strings"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/media"
)

// Remote queries files on other servers.
type Remote interface {
	// About returns the type, the size and the first bytes of a file. The texts of its errors are
	// for users.
	About(ctx context.Context, url string) (RemoteFile, error)
}

// RemoteFile is the description of a file by its server.
type RemoteFile struct {
	Type   string // Content-Type; "": unknown
	Length int64  // size in bytes; 0: unknown
	Head   []byte // first bytes of the file; empty: not read
}

// Describe returns an enclosure with the type and the length of a file. address is a path or a URL.
// Describe queries the server of a file that is on another server. Errors: fault.NotFound (this
// server has no such file), fault.Invalid (the address), fault.Unreadable (the other server does
// not return the file).
func (s *Files) Describe(ctx context.Context, address string) (author.Enclosure, error) {
	if user, hash, ok := s.own(address); ok {
		return s.describeOwn(ctx, user, hash)
	}
	address, err := author.CheckURL("file", address, false)
	if err != nil {
		return author.Enclosure{}, err
	}
	if address == "" {
		return author.Enclosure{}, fault.New(fault.Invalid, "The address of the file is missing.")
	}
	e := author.Enclosure{URL: address}
	if s.Remote == nil {
		e.Type = href.MediaType(address)
		return e, nil
	}
	about, err := s.Remote.About(ctx, address)
	if err != nil {
		return author.Enclosure{}, err
	}
	e.Length = max(about.Length, 0)
	e.Type, _, _ = mime.ParseMediaType(about.Type) // an invalid type becomes "", which means unknown
	if isGeneric(e.Type) && len(about.Head) > 0 {
		e.Type, _, _ = strings.Cut(media.Detect(about.Head).Type, ";")
	}
	if isGeneric(e.Type) {
		if known := href.MediaType(address); known != "" {
			e.Type = known
		}
	}
	if e.Type == "" {
		e.Type = "application/octet-stream"
	}
	return e, nil
}

// isGeneric reports whether a server sends this type for files of unknown types.
func isGeneric(t string) bool {
	return t == "" || t == "application/octet-stream" || t == "binary/octet-stream" || t == "text/plain"
}

// own returns the user and the hash in the path or URL of a file on this server. ok is false for
// other addresses.
func (s *Files) own(address string) (user, hash string, ok bool) {
	if s.Origin != nil {
		if origin := s.Origin(); origin != "" && strings.HasPrefix(address, origin+"/") {
			address = address[len(origin):]
		}
	}
	parts := strings.Split(address, "/")
	if len(parts) != 5 || parts[0] != "" || parts[2] != "media" || !isHash(parts[3]) {
		return "", "", false
	}
	return parts[1], parts[3], true
}

func (s *Files) describeOwn(ctx context.Context, user, hash string) (author.Enclosure, error) {
	f, r, err := s.Open(ctx, user, hash)
	if err != nil {
		return author.Enclosure{}, err
	}
	defer r.Close()
	e := author.Enclosure{URL: s.Path(f), Length: f.Size}
	e.Type, _, _ = strings.Cut(f.Type, ";")
	top, _, _ := strings.Cut(f.Type, "/")
	at, ok := r.(io.ReaderAt)
	if top != "audio" && top != "video" || !ok {
		return e, nil
	}
	inspected, err := media.Inspect(at, f.Size)
	if err != nil {
		if fault.CodeOf(err) == fault.Invalid { // an earlier version of this program accepted the address
			return e, nil
		}
		return e, err
	}
	e.Duration = math.Round(inspected.Duration*100) / 100
	return e, nil
}
