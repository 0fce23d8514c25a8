package bench

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"sync/atomic"
	"time"
)

// Flow is the traffic of the connections of a receiver since its start. In and Out are the bytes
// of the sockets, including TLS, without packet headers.
type Flow struct {
	In    int64 `json:"in"`
	Out   int64 `json:"out"`
	Conns int64 `json:"conns"` // number of accepted connections
}

func (f Flow) minus(g Flow) Flow { return Flow{f.In - g.In, f.Out - g.Out, f.Conns - g.Conns} }

type traffic struct{ in, out, conns atomic.Int64 }

func (t *traffic) now() Flow { return Flow{t.in.Load(), t.out.Load(), t.conns.Load()} }

func (t *traffic) counted(c net.Conn) net.Conn {
	t.conns.Add(1)
	return &countedConn{Conn: c, traffic: t}
}

type countedConn struct {
	net.Conn
	traffic *traffic
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.traffic.in.Add(int64(n))
	return n, err
}

func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.traffic.out.Add(int64(n))
	return n, err
}

// secure contains the certificate for all hosts of a receiver, and the authority that signed it.
// TLS sessions are not resumed, so each new connection needs a full handshake.
type secure struct {
	config    *tls.Config
	authority []byte // certificate of the authority as PEM
}

func newSecure(hosts int) (*secure, error) {
	now := time.Now()
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "cloudburst-lab bench"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	authority, err := x509.CreateCertificate(rand.Reader, root, root, rootKey.Public(), rootKey)
	if err != nil {
		return nil, err
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "callback hosts"},
		NotBefore: root.NotBefore, NotAfter: root.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for i := range hosts {
		leaf.IPAddresses = append(leaf.IPAddresses, Host(false, i).AsSlice())
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	signed, err := x509.CreateCertificate(rand.Reader, leaf, root, key.Public(), rootKey)
	if err != nil {
		return nil, err
	}
	return &secure{
		config: &tls.Config{
			Certificates:           []tls.Certificate{{Certificate: [][]byte{signed}, PrivateKey: key}},
			SessionTicketsDisabled: true, MinVersion: tls.VersionTLS12,
		},
		authority: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority}),
	}, nil
}
