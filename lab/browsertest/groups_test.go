package browsertest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// readAs requests a URL as a feed reader does, with a name and a password.
func readAs(t *testing.T, url, name, password string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if name != "" {
		r.SetBasicAuth(name, password)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// sharesWithAGroup creates a group with one member, and publishes a post for the group.
func (b *tab) sharesWithAGroup(name, slug, text string) {
	t := b.t
	t.Helper()
	b.open("/account/private")
	b.fill("#name-", name)
	b.click(`section[aria-labelledby="s-add"] button`)
	b.until("the group is listed", `document.querySelector("#g-`+slug+`") !== null`)
	b.fill("#r-"+slug, "Bob's phone")
	b.click(`#g-` + slug + ` form[action="/account/private"] button`)
	b.until("the secret is shown", `document.querySelector("#password") !== null`)
	address, user, password := b.texts("#address")[0], b.texts("#name")[0], b.texts("#password")[0]
	b.open("/account/private")
	b.click(`#g-` + slug + ` .head a`)
	b.until("the editor is for the group", `document.querySelector("#w-only").checked && document.querySelector("#w-group-`+slug+`").checked`)
	b.typeText(text)
	b.click("#w-go")
	b.until("it is published", `document.body.textContent.includes("Published for your groups only.")`)
	if status, body := readAs(t, address, user, password); status != http.StatusOK || !strings.Contains(body, text) {
		t.Errorf("a reader gets %d:\n%s", status, body)
	}
	if status, body := readAs(t, address, "", ""); status != http.StatusUnauthorized || strings.Contains(body, text) {
		t.Errorf("a reader without the secret gets %d:\n%s", status, body)
	}
	author, _, _ := strings.Cut(address, "/private/")
	for _, public := range []string{author + "/", author + "/rss.xml", author + "/feed.json"} {
		if _, body := readAs(t, public, "", ""); strings.Contains(body, text) {
			t.Errorf("%s shows the private post", public)
		}
	}
	b.open("/account/private")
	b.holds("the last use is listed", `document.querySelector("#g-`+slug+` .rows").textContent.includes("last used")`)
	b.holds("nothing is wider than the window", `document.documentElement.scrollWidth <= innerWidth`)
	b.click(`#g-` + slug + ` details summary`)
	b.click(`#g-` + slug + ` .harm`)
	b.until("the deletion is confirmed first", `document.body.textContent.includes("Delete the group `+name+`?")`)
	b.click(`main form button`)
	b.until("the group can be restored", `document.querySelector("section[aria-labelledby=s-deleted]") !== null`)
	if status, _ := readAs(t, address, user, password); status != http.StatusUnauthorized {
		t.Errorf("a reader of a deleted group gets %d", status)
	}
}

func TestPrivatePostReachesReadersOfItsGroupOnly(t *testing.T) {
	t.Parallel()
	p := start(t, conf(t))
	b := newTab(t, p.base)
	b.join(p.admin)
	b.size(1280, 900)
	b.sharesWithAGroup("Family", "family", "A secret for the family")
	command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.size(390, 844)
	b.sharesWithAGroup("Club", "club", "A secret for the club")
}
