package config

import (
	"cmp"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Private reports whether only this machine can connect to the admin listener.
func (a Admin) Private() bool { return loopback(a.Listen) }

// ServerIDFile is the name of a file in the data folder. It contains a random ID of the running
// server, which the server also sends in each response of its admin listener.
const ServerIDFile = "server.id"

// Header fields in which the admin listener reports its server and the data of its server.
const (
	serverField   = "Cloudburst-Server"   // content of ServerIDFile
	databaseField = "Cloudburst-Database" // URL of the database without its password; missing: SQLite in the folder
)

// ServerHeader returns the header fields by which commands recognize a server with this ID.
func (c Config) ServerHeader(id string) http.Header {
	h := http.Header{serverField: {id}}
	if c.Database != "" {
		h.Set(databaseField, Redact(c.Database))
	}
	return h
}

// SameData reports whether the header of a response comes from the admin listener of a server with
// the same data as c: with the same database if c has one, otherwise the server that runs in the data
// folder. A server older than this header has no ID in its folder, and counts as the server there.
func (c Config) SameData(h http.Header) bool {
	if c.Database != "" {
		return sameDatabase(h.Get(databaseField), c.Database)
	}
	id, err := os.ReadFile(filepath.Join(c.Data, ServerIDFile))
	return h.Get(serverField) == strings.TrimSpace(string(id)) && (err == nil || os.IsNotExist(err))
}

// sameDatabase reports whether two URLs name one database. The password and the options do not count.
func sameDatabase(a, b string) bool {
	one, err := url.Parse(a)
	other, err2 := url.Parse(b)
	if err != nil || err2 != nil {
		return a == b
	}
	at := func(u *url.URL) string {
		port := cmp.Or(u.Port(), "5432")
		return u.User.Username() + "@" + net.JoinHostPort(strings.ToLower(u.Hostname()), port) + u.Path + "?" + u.Query().Get("host")
	}
	return a != "" && at(one) == at(other)
}
