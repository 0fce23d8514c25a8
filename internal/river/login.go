package river

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/protocol/wsse"
)

// seal encrypts the plain secret of a login for the store. Kind and Name are bound to
// it: a row that somebody changed does not open. fault.Unavailable: there is no Key.
func (r *River) seal(l Login) (Login, error) {
	if l.Kind == "" {
		return Login{}, nil
	}
	box, err := r.box()
	if err != nil {
		return Login{}, err
	}
	nonce := make([]byte, box.NonceSize())
	rand.Read(nonce)
	l.Secret = base64.RawStdEncoding.EncodeToString(box.Seal(nonce, nonce, []byte(l.Secret), boundTo(l)))
	return l, nil
}

// unseal gives a login back its plain secret.
func (r *River) unseal(l Login) (Login, error) {
	if l.Kind == "" {
		return Login{}, nil
	}
	box, err := r.box()
	if err != nil {
		return Login{}, err
	}
	raw, err := base64.RawStdEncoding.DecodeString(l.Secret)
	if err == nil && len(raw) < box.NonceSize() {
		err = fault.New(fault.Internal, "A kept log-in is too short.")
	}
	var plain []byte
	if err == nil {
		plain, err = box.Open(nil, raw[:box.NonceSize()], raw[box.NonceSize():], boundTo(l))
	}
	if err != nil {
		return Login{}, fault.Wrap(fault.Unavailable, err, "The log-in that is kept for this feed cannot be opened with this server's key; give it again.")
	}
	l.Secret = string(plain)
	return l, nil
}

func boundTo(l Login) []byte { return []byte(l.Kind + "\x00" + l.Name) }

func (r *River) box() (cipher.AEAD, error) {
	if len(r.Key) != 32 {
		return nil, fault.New(fault.Unavailable, "This server has no key to keep log-ins with.")
	}
	block, err := aes.NewCipher(r.Key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// header is what a login, with its plain secret, adds to one request.
func (l Login) header(now time.Time) http.Header {
	h := http.Header{}
	switch l.Kind {
	case LoginBasic:
		req := http.Request{Header: h}
		req.SetBasicAuth(l.Name, l.Secret)
	case LoginToken:
		h.Set("Authorization", "Bearer "+l.Secret)
	case LoginWSSE:
		h.Set("Authorization", `WSSE profile="UsernameToken"`)
		h.Set(wsse.Name, wsse.Header(l.Name, l.Secret, now, nil))
	case LoginHeader:
		h.Set(l.Name, l.Secret)
	}
	return h
}

// check says what is wrong with a login as a reader hands it in.
func (l Login) check() error {
	switch l.Kind {
	case "":
		return nil
	case LoginBasic, LoginWSSE:
		if l.Name == "" || l.Kind == LoginBasic && strings.Contains(l.Name, ":") {
			return fault.New(fault.Invalid, "The log-in needs a user name, without a colon.")
		}
	case LoginToken:
	case LoginHeader:
		if !isHeader(l.Name) {
			return fault.New(fault.Invalid, "%.60q cannot be the header of a log-in.", l.Name)
		}
	default:
		return fault.New(fault.Invalid, "The kind of log-in is %.60q: it needs one of basic, token, wsse, header.", l.Kind)
	}
	empty := l.Secret == "" && l.Kind != LoginBasic // some servers want a token as the name
	if empty || len(l.Name)+len(l.Secret) > 4096 || strings.ContainsFunc(l.Name+l.Secret, isControl) {
		return fault.New(fault.Invalid, "The log-in's secret is empty, too long, or has characters that no header may have.")
	}
	return nil
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f }

// isHeader reports a header name that a login may set: a token, and none of those that
// frame the request or steer the check.
func isHeader(name string) bool {
	if name == "" || len(name) > 100 {
		return false
	}
	for _, c := range []byte(name) {
		if !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	switch http.CanonicalHeaderKey(name) {
	case "Host", "Connection", "Content-Length", "Content-Type", "Transfer-Encoding", "Te", "Trailer", "Upgrade", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "Expect",
		"Accept", "Accept-Encoding", "User-Agent", "Referer", "Range", "If-None-Match", "If-Modified-Since", "If-Range", "If-Match", "If-Unmodified-Since":
		return false
	}
	return true
}
