package app_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"cloudburst/client"
)

func TestAdministratorChecksAndRemovesADomain(t *testing.T) {
	t.Parallel()
	d := newDomainServer(t)
	ctx := t.Context()
	d.addUsers("alice", "bob")
	const page = "https://hub.test/admin/domains"
	if status, _, _ := d.get(page); status == http.StatusOK {
		t.Error("a visitor sees the domains")
	}
	if status, body := d.send("/login", url.Values{"name": {"alice"}, "password": {alicePassword}}); status != http.StatusSeeOther {
		t.Fatal("sign in", status, body)
	}
	d.shows(page, "No author has a domain")
	site := client.Site{Client: d.admin, User: "bob"}
	if _, err := site.SetDomain(ctx, "blog.test"); err != nil {
		t.Fatal(err)
	}
	d.shows(page, "blog.test", "Waiting for the token", "/admin/users/bob")
	for range 2 { // the second round checks a domain that is in use
		if status, body := d.send("/admin/domains/check", url.Values{"user": {"bob"}}); status != http.StatusSeeOther {
			t.Fatal("check", status, body)
		}
	}
	wait(t, "the page shows the certificate", func() bool {
		_, body, _ := d.get(page)
		return strings.Contains(body, "certificate until") && strings.Contains(body, "Verified") && strings.Contains(body, `href="https://blog.test/"`)
	})
	if status, body := d.send("/admin/domains/remove", url.Values{"user": {"bob"}}); status != http.StatusOK || !strings.Contains(body, "Remove this domain?") {
		t.Error("the question", status, body)
	}
	d.shows(page, "blog.test")
	if status, body := d.send("/admin/domains/remove", url.Values{"user": {"bob"}, "sure": {"yes"}}); status != http.StatusSeeOther {
		t.Error("remove", status, body)
	}
	d.shows(page, "No author has a domain")
	if status, body := d.send("/admin/domains/remove", url.Values{"user": {"bob"}, "sure": {"yes"}}); status != http.StatusNotFound || !strings.Contains(body, "no such domain") {
		t.Error("remove again", status, body)
	}
	d.shows("https://hub.test/admin/audit?action=domain", "checked the domain of", "removed the domain of", "blog.test")
}
