package app

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"cloudburst/internal/config"
)

func TestInvalidSettingsAreFoundWithoutStartingTheServer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		set  func(*config.Config)
		want string // "": valid
	}{
		{func(*config.Config) {}, ""},
		{func(c *config.Config) { c.SMTP.From = "river@example.org" }, ""},
		{func(c *config.Config) { c.SMTP.Server = "foo" }, `smtp.server is "foo"; it must be host and port`},
		{func(c *config.Config) { c.SMTP.Server = "foo:25" }, "smtp.server is set and smtp.from is not"},
		{func(c *config.Config) { c.SMTP.Server, c.SMTP.From = "foo:25", "nobody" }, "smtp.from"},
		{func(c *config.Config) { c.TLS.Cert = "x" }, "tls.cert and tls.key belong together"},
		{func(c *config.Config) { c.TLS.Cert, c.TLS.Key = "x", "y" }, ""},
		{func(c *config.Config) { c.TLS.Domains, c.TLS.Cert = []string{"a.example"}, "x" }, "are both set"},
		{func(c *config.Config) { c.TLS.Domains = []string{"*.x"} }, `tls.domains contains "*.x"`},
		{func(c *config.Config) { c.TLS.Domains = []string{"a.example"} }, ""},
		{func(c *config.Config) { c.TLS.Domains = []string{"192.0.2.1"} }, "tls.domains contains the IP address 192.0.2.1"},
		{func(c *config.Config) { c.TLS.Domains = []string{"[2001:db8::1]"} }, "tls.domains contains the IP address"},
		{func(c *config.Config) { c.Admin.Listen = c.Listen }, "listen and admin.listen are both :5337"},
		{func(c *config.Config) { c.Listen, c.Admin.Listen = "127.0.0.1:0", "127.0.0.1:0" }, ""},
		{func(c *config.Config) { c.TLS.HTTPListen = c.Listen }, ""},
		{func(c *config.Config) { c.TLS.HTTPListen, c.TLS.Domains = c.Listen, []string{"a.example"} }, "listen and tls.http-listen are both :5337"},
		{func(c *config.Config) { c.Database = "postgres://u:s3kr1t@h/d" }, ""},
		{func(c *config.Config) { c.Database = "postgres://u:s3kr1t@h/d?sslmode=bogus" }, "sslmode is invalid"},
		{func(c *config.Config) { c.Database = "postgres://u:s3kr1t@h/d?connect_timeout=s3kr1t" }, "it must have the form"},
		{func(c *config.Config) { c.Accounts.SecretKey = "short" }, "accounts.secret-key has 5 characters"},
		{func(c *config.Config) { c.Media.Bucket = "foo" }, `media.bucket: "foo" is not the http or https URL of a bucket`},
		{func(c *config.Config) { c.Media.Bucket = "https://s3.example.org/files" }, "media.bucket: the access key ID"},
	} {
		c := config.Default()
		tt.set(&c)
		err := CheckSettings(c)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "s3kr1t@") {
			t.Errorf("the error contains the password: %v", err)
		}
	}
}

func TestErrorAboutCertificateFilesNamesTheCauseOnce(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.TLS.Cert, c.TLS.Key = filepath.Join(t.TempDir(), "none.pem"), "key.pem"
	_, err := New(c, slog.New(slog.DiscardHandler)).newFront()
	if err == nil || strings.Count(err.Error(), "no such file") != 1 {
		t.Error(err)
	}
}
