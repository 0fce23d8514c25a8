package app_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// authority is a small ACME server (RFC 8555) with its own certificate authority. It does not
// verify the signatures of requests. It validates names by HTTP or TLS-ALPN, as real authorities
// do, but it connects to fixed addresses for all names.
type authority struct {
	t               *testing.T
	srv             *httptest.Server
	key             *ecdsa.PrivateKey
	root            *x509.Certificate
	plain, shielded string // addresses for the validation by HTTP and by TLS; "": the authority does not offer this type of challenge

	mu     sync.Mutex
	orders []*order
	proved []string // validated names, each with the type of its challenge
}

type order struct {
	name, token, status, authz string
	chain                      []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, c, c, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.root, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.srv = httptest.NewServer(a)
	t.Cleanup(a.srv.Close)
	return a
}

// ServeHTTP handles requests in the order of RFC 8555, section 7.
func (a *authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	base := "http://" + r.Host
	w.Header().Set("Replay-Nonce", rand.Text())
	what, number, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
	n, _ := strconv.Atoi(number)
	if number != "" && n >= len(a.orders) {
		http.NotFound(w, r)
		return
	}
	var payload map[string]json.RawMessage
	if r.Method == http.MethodPost {
		payload = payloadOf(r.Body)
	}
	switch what {
	case "directory":
		answer(w, 200, map[string]string{"newNonce": base + "/nonce", "newAccount": base + "/account", "newOrder": base + "/order"})
	case "nonce":
	case "account":
		w.Header().Set("Location", base+"/account/0")
		answer(w, 201, map[string]string{"status": "valid"})
	case "order":
		if number == "" {
			var ids []struct{ Value string }
			if err := json.Unmarshal(payload["identifiers"], &ids); err != nil || len(ids) != 1 {
				http.Error(w, "one identifier", 400)
				return
			}
			n = len(a.orders)
			a.orders = append(a.orders, &order{name: ids[0].Value, token: rand.Text(), status: "pending", authz: "pending"})
		}
		a.writeOrder(w, base, n)
	case "authz":
		answer(w, 200, a.authz(base, n))
	case "prove-http", "prove-tls":
		a.prove(what, a.orders[n])
		answer(w, 200, map[string]string{"type": kinds()[what], "status": "processing", "url": base + r.URL.Path, "token": a.orders[n].token})
	case "finalize":
		a.sign(a.orders[n], payload["csr"])
		a.writeOrder(w, base, n)
	case "chain":
		w.Header().Set("Content-Type", "application/pem-certificate-chain")
		_, _ = w.Write(a.orders[n].chain)
	default:
		http.NotFound(w, r)
	}
}

func kinds() map[string]string {
	return map[string]string{"prove-http": "http-01", "prove-tls": "tls-alpn-01"}
}

func (a *authority) writeOrder(w http.ResponseWriter, base string, n int) {
	o := a.orders[n]
	w.Header().Set("Location", fmt.Sprintf("%s/order/%d", base, n))
	said := map[string]any{"status": o.status, "identifiers": []any{map[string]string{"type": "dns", "value": o.name}},
		"authorizations": []string{fmt.Sprintf("%s/authz/%d", base, n)}, "finalize": fmt.Sprintf("%s/finalize/%d", base, n)}
	if o.chain != nil {
		said["certificate"] = fmt.Sprintf("%s/chain/%d", base, n)
	}
	status := 200
	if o.status == "pending" {
		status = 201
	}
	answer(w, status, said)
}

func (a *authority) authz(base string, n int) any {
	o, offered := a.orders[n], []any{}
	for path, at := range map[string]string{"prove-http": a.plain, "prove-tls": a.shielded} {
		if at != "" {
			offered = append(offered, map[string]string{"type": kinds()[path], "status": o.authz, "url": fmt.Sprintf("%s/%s/%d", base, path, n), "token": o.token})
		}
	}
	return map[string]any{"status": o.authz, "identifier": map[string]string{"type": "dns", "value": o.name}, "challenges": offered}
}

// prove validates the challenge of an order. how is prove-http or prove-tls.
func (a *authority) prove(how string, o *order) {
	var err error
	if how == "prove-http" {
		err = a.proveHTTP(o)
	} else {
		err = a.proveTLS(o)
	}
	if err != nil {
		a.t.Errorf("%s of %s: %v", how, o.name, err)
		o.authz, o.status = "invalid", "invalid"
		return
	}
	a.proved = append(a.proved, kinds()[how]+" "+o.name)
	o.authz, o.status = "valid", "ready"
}

func (a *authority) proveHTTP(o *order) error {
	req, err := http.NewRequestWithContext(a.t.Context(), "GET", "http://"+a.plain+"/.well-known/acme-challenge/"+o.token, nil)
	if err != nil {
		return err
	}
	req.Host = o.name
	res, err := http.DefaultTransport.RoundTrip(req) // a redirect would not prove control of the name
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 || !strings.HasPrefix(string(body), o.token+".") {
		return fmt.Errorf("%s %q %w", res.Status, body, err)
	}
	return nil
}

// proveTLS validates a tls-alpn-01 challenge (RFC 8737, section 3).
func (a *authority) proveTLS(o *order) error {
	raw, err := net.DialTimeout("tcp", a.shielded, maxWait)
	if err != nil {
		return err
	}
	c := tls.Client(raw, &tls.Config{ServerName: o.name, NextProtos: []string{"acme-tls/1"}, InsecureSkipVerify: true})
	defer c.Close()
	if err := c.HandshakeContext(a.t.Context()); err != nil {
		return err
	}
	leaf := c.ConnectionState().PeerCertificates[0]
	proof := slices.ContainsFunc(leaf.Extensions, func(e pkix.Extension) bool { return e.Critical && e.Id.String() == "1.3.6.1.5.5.7.1.31" })
	if c.ConnectionState().NegotiatedProtocol != "acme-tls/1" || !proof || leaf.VerifyHostname(o.name) != nil {
		return fmt.Errorf("no proof in a certificate for %v", leaf.DNSNames)
	}
	return nil
}

// sign issues the certificate for an order.
func (a *authority) sign(o *order, csr json.RawMessage) {
	var text string
	raw, err := []byte(nil), json.Unmarshal(csr, &text)
	if err == nil {
		raw, err = base64.RawURLEncoding.DecodeString(text)
	}
	req, err2 := x509.ParseCertificateRequest(raw)
	if err != nil || err2 != nil || o.status != "ready" || !slices.Equal(req.DNSNames, []string{o.name}) {
		a.t.Errorf("signing for %s, which is %s: %v %v", o.name, o.status, err, err2)
		return
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: req.DNSNames, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(90 * 24 * time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, KeyUsage: x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, c, a.root, req.PublicKey, a.key)
	if err != nil {
		a.t.Error(err)
		return
	}
	o.status, o.chain = "valid", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // an error means that the client has disconnected
}

// payloadOf returns the payload of a signed request, or nil if the payload is empty.
func payloadOf(body io.Reader) (payload map[string]json.RawMessage) {
	var jws struct{ Payload string }
	if json.NewDecoder(body).Decode(&jws) != nil {
		return nil
	}
	raw, _ := base64.RawURLEncoding.DecodeString(jws.Payload)
	_ = json.Unmarshal(raw, &payload) // a POST-as-GET request has an empty payload, which is not JSON
	return payload
}
