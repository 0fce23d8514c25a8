package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp/kb"

	"cloudburst/client"
)

// newAdministrator returns a program in which alice is an administrator and bob is an ordinary
// user. It also returns a window in which alice is signed in.
func newAdministrator(t *testing.T) (*running, *tab) {
	t.Helper()
	p, b := newWriter(t)
	if _, err := (&client.Client{Base: p.admin}).AddUser(t.Context(), "bob", aPassword); err != nil {
		t.Fatal(err)
	}
	return p, b
}

// manages creates, disables, enables and deletes a user with the administrator's pages.
func (b *tab) manages() {
	b.t.Helper()
	b.open("/admin/users")
	b.click(".fold > summary")
	b.fill("#c-name", "carol")
	b.fill("#c-password", aPassword)
	b.click(".fold form button")
	b.until("the user is created", `document.querySelector("h1").textContent === "carol" && document.querySelector(".undo p").textContent.startsWith("The user is created")`)
	b.click(`form[action$="/disable"] button`)
	b.until("the user is disabled", `document.querySelector(".undo p").textContent.startsWith("carol is disabled") && document.querySelector("dd .state.bad")`)
	b.click(".undo button")
	b.until("the user is enabled again", `document.querySelector(".undo p").textContent.startsWith("carol can sign in again")`)
	b.click(`a[href$="/delete"]`)
	b.until("the page asks for the password", `document.querySelector("h1").textContent === "Delete carol?"`)
	b.expect("403")
	b.fill("#d-password", "wrong")
	b.click("button.danger")
	b.until("a wrong password deletes nothing", `document.querySelector("#d-wrong p")?.textContent.includes("Nothing was deleted")`)
	b.fill("#d-password", aPassword)
	b.click("button.danger")
	b.until("the user is deleted", `location.pathname === "/admin/users" && document.querySelector(".undo p").textContent.startsWith("The user is deleted")`)
	b.holds("the list has two users", `document.querySelectorAll(".rows > li").length === 2`)
	b.open("/admin/audit?q=carol")
	b.holds("everything is in the audit log", fmt.Sprintf(`[...document.querySelectorAll(".audit tbody td:nth-child(3)")].map((e) => e.textContent.trim().replace(/\s+/g, " ")).join() === %q`,
		"deleted the user carol,enabled the user carol,disabled the user carol,created the user carol"))
}

func TestAdministratorManagesUsersInTheBrowser(t *testing.T) {
	t.Parallel()
	_, b := newAdministrator(t)
	b.manages()
}

func TestAdministratorManagesUsersWithoutScripts(t *testing.T) {
	t.Parallel()
	_, b := newAdministrator(t)
	command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.manages()
}

func TestOrdinaryUserCannotSeeAdministrationPages(t *testing.T) {
	t.Parallel()
	p, _ := newAdministrator(t)
	b := newTab(t, p.base)
	b.open("/login?next=%2Faccount")
	b.fill("[name=name]", "bob")
	b.fill("[name=password]", aPassword)
	b.click("form.sheet button")
	b.until("bob is signed in", `location.pathname === "/account"`)
	b.holds("bob sees no link to the administration", `!document.querySelector('a[href^="/admin"]')`)
	b.expect("403")
	b.open("/admin/users")
	b.holds("the page states the reason", `document.querySelector(".lede").textContent.startsWith("You are signed in as bob, who is not an administrator")`)
}

func TestAdministrationPagesCanBeUsedByKeyboard(t *testing.T) {
	t.Parallel()
	_, b := newAdministrator(t)
	b.open("/admin/users/bob")
	reach := func(selector string) {
		t.Helper()
		for range 60 {
			if eval[bool](b, fmt.Sprintf(`document.activeElement.matches(%q)`, selector)) {
				return
			}
			b.keys(kb.Tab)
		}
		b.fatal("Tab does not reach " + selector)
	}
	reach(`form[action$="/promote"] button`)
	b.holds("the focus is visible", `getComputedStyle(document.activeElement).outlineStyle !== "none"`)
	b.keys(kb.Enter)
	b.until("bob is an administrator", `document.querySelector(".undo p")?.textContent.startsWith("bob is an administrator now")`)
	reach(".undo button")
	b.keys(kb.Enter)
	b.until("that is undone", `document.querySelector(".undo p")?.textContent.startsWith("bob is no longer an administrator")`)
	reach(`a[href="/admin/audit"]`)
	b.keys(kb.Enter)
	b.until("the audit log opens", `location.pathname === "/admin/audit"`)
}

func TestAdministrationPagesFitPhonesAndDesktops(t *testing.T) {
	t.Parallel()
	_, b := newAdministrator(t)
	b.open("/admin/blocks")
	b.fill("#b-value", "a-host-with-a-long-name.with.many.labels.in.it.example.org")
	b.click(".sheet button")
	b.until("the host is blocked", `document.querySelector(".rows")`)
	b.open("/admin/backups")
	b.click("form.after button")
	b.until("there is a backup", `document.querySelector(".rows")`)
	shots := newAlbum(t)
	for _, name := range []string{"", "users", "users/bob", "users/bob/delete", "users/alice", "invites", "settings", "blocks", "subscriptions", "backups", "audit"} {
		b.visit(stop{name: "admin-" + strings.ReplaceAll(name, "/", "-"), path: strings.TrimSuffix("/admin/"+name, "/")}, shots)
	}
	b.open("/admin/invites")
	b.fill("#i-note", "for Carol")
	b.click(".sheet button")
	b.until("there is a link", `document.querySelector("#invite-link").textContent.includes("/signup?invite=")`)
}
