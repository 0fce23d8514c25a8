package app

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"strings"

	"cloudburst/internal/bucket"
	"cloudburst/internal/certs"
	"cloudburst/internal/config"
	"cloudburst/internal/fault"
	"cloudburst/internal/store"
)

// CheckSettings returns an error if settings are invalid that package config accepts, because a
// component validates them or several settings contradict each other. It opens no connections, and
// reads no files except those that the URL of the database names.
func CheckSettings(cfg config.Config) error {
	if err := store.CheckDatabaseURL(cfg.Database); err != nil {
		return err
	}
	listens := [][2]string{{"listen", cfg.Listen}, {"admin.listen", cfg.Admin.Listen}}
	if cfg.TLS.On() {
		listens = append(listens, [2]string{"tls.http-listen", cfg.TLS.HTTPListen})
	}
	for i, one := range listens {
		for _, other := range listens[:i] {
			if one[1] == other[1] && !strings.HasSuffix(one[1], ":0") {
				return fault.New(fault.Invalid, "%s and %s are both %s: each listener needs its own address.", other[0], one[0], one[1])
			}
		}
	}
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
		for _, name := range c.Domains {
			if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
				return fault.New(fault.Invalid, "tls.domains contains the IP address %s: automatic certificates are for host names only. Use tls.cert and tls.key.", name)
			}
		}
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
