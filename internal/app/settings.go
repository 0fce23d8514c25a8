package app

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"

	"cloudburst/internal/bucket"
	"cloudburst/internal/certs"
	"cloudburst/internal/config"
	"cloudburst/internal/fault"
)

// CheckSettings returns an error if settings are invalid that package config accepts, because a
// component validates them or several settings contradict each other. It reads no files and opens
// no connections.
func CheckSettings(cfg config.Config) error {
	if _, err := New(cfg, slog.New(slog.DiscardHandler)).mail(); err != nil {
		return err
	}
	if err := checkTLS(cfg.TLS); err != nil {
		return err
	}
	if key := cfg.Accounts.SecretKey; key != "" {
		if _, err := secretKey(key, ""); err != nil {
			return err
		}
	}
	m := cfg.Media
	if m.Bucket == "" {
		return nil
	}
	if _, err := bucket.New(bucket.Options{URL: m.Bucket, Region: m.BucketRegion, KeyID: m.BucketKey, Secret: m.BucketSecret}); err != nil {
		return fmt.Errorf("media.bucket: %w", err)
	}
	return nil
}

// checkTLS validates the settings of TLS without reading the certificate files.
func checkTLS(c config.TLS) error {
	switch {
	case !c.On():
		return nil
	case len(c.Domains) > 0 && (c.Cert != "" || c.Key != ""):
		return fault.New(fault.Invalid, "tls.domains and tls.cert are both set: use either an authority or certificate files.")
	case len(c.Domains) > 0:
		return (&certs.ACME{Domains: c.Domains, Directory: c.ACMEDirectory}).Init()
	case c.Cert == "" || c.Key == "":
		return fault.New(fault.Invalid, "tls.cert and tls.key belong together, and one of them is not set.")
	}
	return nil
}

// reportsData returns a handler of the admin listener whose responses name this server and its
// database. Commands use this to recognize the server of their data folder.
func (a process) reportsData(h http.Handler) http.Handler {
	server := a.cfg.ServerHeader(a.serverID)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), server)
		h.ServeHTTP(w, r)
	})
}
