package config

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
)

// Private reports whether only this machine can connect to the admin listener.
func (a Admin) Private() bool { return loopback(a.Listen) }

// Header fields in which the admin listener reports the data of its server.
const (
	dataField     = "Cloudburst-Data"     // absolute path of the data folder, escaped as in a URL
	databaseField = "Cloudburst-Database" // URL of the database without its password; missing: SQLite in the folder
)

// DataHeader returns the header fields with which the admin listener reports the data folder and
// the database of its server.
func (c Config) DataHeader() http.Header {
	h := http.Header{}
	if folder, err := filepath.Abs(c.Data); err == nil {
		h.Set(dataField, url.PathEscape(folder))
	}
	if c.Database != "" {
		h.Set(databaseField, Redact(c.Database))
	}
	return h
}

// SameData reports whether the header of a response comes from the admin listener of a server with
// the same data as c: with the same database URL if c has a database, otherwise with the same data
// folder.
func (c Config) SameData(h http.Header) bool {
	if c.Database != "" {
		return h.Get(databaseField) == Redact(c.Database)
	}
	folder, err := url.PathUnescape(h.Get(dataField))
	if err != nil || folder == "" {
		return false
	}
	if own, err := filepath.Abs(c.Data); err == nil && own == folder {
		return true
	}
	one, err := os.Stat(folder)
	if err != nil {
		return false
	}
	other, err := os.Stat(c.Data)
	return err == nil && os.SameFile(one, other)
}
