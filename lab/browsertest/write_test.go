package browsertest

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"cloudburst/client"
	"cloudburst/internal/fulltest"
	"cloudburst/lab/program"
)

const aPassword = "correct horse battery"

// onePixel is a PNG image of one pixel in Base64.
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="

// newWriter starts a program with alice as the first account, and returns a window in which she
// is signed in.
func newWriter(t *testing.T) (*running, *tab) {
	t.Helper()
	p := start(t, conf(t))
	b := newTab(t, p.base)
	b.join(p.admin)
	return p, b
}

// join creates the account of alice and signs her in.
func (b *tab) join(admin string) {
	b.t.Helper()
	if _, err := (&client.Client{Base: admin}).AddUser(b.t.Context(), "alice", aPassword); err != nil {
		b.t.Fatal(err)
	}
	b.signIn("/write")
}

func (b *tab) signIn(next string) {
	b.t.Helper()
	b.open("/login?next=" + url.QueryEscape(next))
	b.fill("#c-name, [name=name]", "alice")
	b.fill("[name=password]", aPassword)
	b.click("form.sheet button")
	b.until("alice is signed in", fmt.Sprintf(`location.pathname + location.search === %q`, next))
}

// get returns the body of a document that an anonymous client requests.
func get(t *testing.T, address string) string {
	t.Helper()
	res, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// awaitDraftStatus waits until the page shows a status of the draft that contains words.
func (b *tab) awaitDraftStatus(words string) {
	b.t.Helper()
	b.until("the status of the draft is "+words, fmt.Sprintf(`document.getElementById("w-state")?.textContent.includes(%q)`, words))
}

// ctrl presses a key together with Ctrl.
func (b *tab) ctrl(key string) {
	b.t.Helper()
	b.do("press Ctrl and "+key, chromedp.KeyEvent(key, chromedp.KeyModifiers(2)))
}

func TestShortPostIsWrittenAndPublishedByKeyboard(t *testing.T) {
	t.Parallel()
	p, b := newWriter(t)
	b.until("the text box has the focus", `document.activeElement.id === "w-source"`)
	b.holds("the counter shows the remaining characters", `document.getElementById("w-count").textContent === "140 left"`)
	b.keys("Hello *world*")
	b.until("the counter ignores markup", `document.getElementById("w-count").textContent === "129 left"`)
	b.ctrl(kb.Enter)
	b.until("it is published", `document.querySelector(".undo")?.textContent.includes("Published.")`)
	b.holds("the next form is empty", `document.getElementById("w-source").value === "" && document.activeElement.id === "w-source"`)
	b.until("the undo button counts down", `/Undo\s+\d\d? s/.test(document.querySelector(".undo").textContent)`)
	if doc := get(t, p.base+"/alice/rss.xml"); !strings.Contains(doc, "Hello <em>world</em>") {
		t.Errorf("the feed is %s", doc)
	}
	b.click(".undo a")
	b.until("the post has a page", `/^\/alice\/\d{4}\/\d\d\/\d\d\//.test(location.pathname)`)
	b.open("/write/1")
	b.click(".undo button")
	b.until("the post is a draft again", `/did=undone/.test(location.search) && document.querySelector("main").textContent.includes("a draft")`)
	if doc := get(t, p.base+"/alice/rss.xml"); strings.Contains(doc, "Hello") {
		t.Errorf("the feed still contains the post: %s", doc)
	}
}

func TestPostWithTitleAndCategoriesIsPreviewedAndEdited(t *testing.T) {
	t.Parallel()
	p, b := newWriter(t)
	for i, words := range []string{"Walks", "Water", "Birds"} {
		res := eval[bool](b, fmt.Sprintf(`fetch("/write", {method: "POST", body: new URLSearchParams({do: "publish", key: "k%d", writer: "alice", source: "About %s", categories: %q})}).then((r) => r.ok)`, i, words, words))
		if !res {
			t.Fatal("the post was not created")
		}
	}
	b.open("/write")
	b.click(`label[for="ask-title"]`)
	b.until("the title has the focus", `document.activeElement.id === "w-title"`)
	b.keys("A long walk")
	b.click("#w-source")
	b.keys("Through *hills*")
	b.click(`label[for="ask-categories"]`)
	b.until("the categories have the focus", `document.activeElement.id === "w-categories"`)
	b.keys("W")
	b.until("two are offered", `document.querySelectorAll("#w-list:not([hidden]) li").length === 2`)
	b.keys(kb.ArrowDown)
	b.keys(kb.ArrowDown)
	b.keys(kb.Enter)
	b.holds("the second is chosen", `document.getElementById("w-categories").value === "Water, "`)
	b.keys("new")
	b.click("#w-look")
	b.until("the preview is shown", `document.querySelector("#look-text em")?.textContent === "hills" && document.querySelector("#look-text article > .p-name").textContent === "A long walk"`)
	b.holds("a post with a title has no limit", `document.getElementById("w-count").textContent === "13 characters"`)
	b.click("#w-source")
	b.keys(kb.End + " and **woods**")
	b.until("the preview is updated", `document.querySelector("#look-text strong")?.textContent === "woods"`)
	b.keys(kb.Escape)
	b.until("it is closed", `document.getElementById("look").hidden`)
	b.click("#w-go")
	b.until("it is published", `document.querySelector(".undo")?.textContent.includes("Published.")`)
	doc := get(t, p.base+"/alice/rss.xml")
	for _, want := range []string{"<title>A long walk</title>", "<category>Water</category>", "<category>new</category>", "<strong>woods</strong>"} {
		if !strings.Contains(doc, want) {
			t.Errorf("the feed has no %s: %s", want, doc)
		}
	}

	b.changes(p)
}

// changes edits a published post. Readers see the change only after the author publishes it.
func (b *tab) changes(p *running) {
	t := b.t
	t.Helper()
	b.open("/write/posts")
	b.click(".mineposts .words")
	b.until("it is in the form", `document.getElementById("w-title").value === "A long walk"`)
	b.fill("#w-title", "A short walk")
	b.awaitDraftStatus("readers do not see the change yet")
	if doc := get(t, p.base+"/alice/rss.xml"); !strings.Contains(doc, "A long walk") {
		t.Error("readers see an unpublished change")
	}
	b.open("/write/4")
	b.until("the change is still there", `document.getElementById("w-title").value === "A short walk" && document.querySelector("main").textContent.includes("unpublished changes")`)
	b.click("#w-go")
	b.until("the change is published", `document.querySelector(".undo")?.textContent.includes("The changes are published.")`)
	if doc := get(t, p.base+"/alice/rss.xml"); !strings.Contains(doc, "A short walk") {
		t.Error("readers do not see the change")
	}
	b.click(`.mineposts form[action="/write/4/delete"] button`)
	b.until("it is deleted", `document.querySelector(".undo")?.textContent.includes("Deleted.")`)
	if doc := get(t, p.base+"/alice/rss.xml"); strings.Contains(doc, "A short walk") {
		t.Error("readers see a deleted post")
	}
	b.click(".undo button")
	b.until("it is back", `location.pathname === "/write/4" && document.querySelector("main").textContent.includes("Deletion undone: “A short walk” is published again.")`)
	if doc := get(t, p.base+"/alice/rss.xml"); !strings.Contains(doc, "A short walk") {
		t.Error("the restored post is missing")
	}
}

func TestFilesAreUploadedByButtonAndByDrop(t *testing.T) {
	t.Parallel()
	p, b := newWriter(t)
	b.expect("400") // the test uploads a file of a wrong type
	screenshot, err := base64.StdEncoding.DecodeString(onePixel)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "dot.png"), filepath.Join(dir, "lie.png")
	for name, content := range map[string][]byte{good: screenshot, bad: []byte("<html><script>alert(1)</script>")} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.click(`label[for="ask-files"]`)
	choose := func(name string) {
		t.Helper()
		root := command(b, dom.GetDocument, dom.GetDocumentParams{})
		at := command(b, dom.QuerySelector, dom.QuerySelectorParams{NodeID: root.Root.NodeID, Selector: "#w-upload"})
		command(b, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: []string{name}, NodeID: at.NodeID})
	}
	choose(good)
	b.until("the file is there", `document.querySelector(".file [name=file]")?.value.startsWith("/alice/media/") && document.querySelector(".file img")?.naturalWidth === 1`)
	choose(bad)
	b.until("the wrong type is reported", `document.querySelector("#w-files-wrong .wrong")`)
	b.holds("it was not accepted", `document.querySelectorAll(".file").length === 1`)
	eval[bool](b, fmt.Sprintf(`(() => {
		const carried = new DataTransfer();
		carried.items.add(new File([Uint8Array.from(atob(%q), (c) => c.charCodeAt(0)), new Uint8Array(0)], "dropped.png", { type: "image/png" }));
		carried.items.add(new File(["just words"], "words.txt", { type: "text/plain" }));
		document.dispatchEvent(new DragEvent("dragenter", { dataTransfer: carried, cancelable: true }));
		return document.dispatchEvent(new DragEvent("drop", { dataTransfer: carried, cancelable: true }));
	})()`, onePixel))
	b.until("the dropped files are there, and the same image once", `document.querySelectorAll(".file [name=file]").length === 2 && !document.querySelector(".file progress")`)
	eval[bool](b, `document.getElementById("w-source").focus(), true`)
	b.keys("Look ")
	eval[bool](b, `document.querySelector(".file button").click(), true`)
	b.until("an image is in the text", `document.getElementById("w-source").value.startsWith("Look ![](/alice/media/") && document.querySelectorAll(".file").length === 1`)
	b.ctrl(kb.Enter)
	b.until("it is published", `document.querySelector(".undo")?.textContent.includes("Published.")`)
	doc := get(t, p.base+"/alice/rss.xml")
	if !strings.Contains(doc, `words.txt" length="10"`) || !strings.Contains(doc, `/dot.png"/></p>`) {
		t.Errorf("the feed is %s", doc)
	}
}

func TestScheduledPostUsesTheTimeZoneOfItsAuthor(t *testing.T) {
	t.Parallel()
	_, b := newWriter(t)
	command(b, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Kathmandu"})
	b.open("/write")
	b.keys("Later")
	b.click(`label[for="ask-when"]`)
	b.holds("the time zone is shown", `document.getElementById("w-zone").textContent.includes("mandu")`)
	eval[bool](b, `(() => { const at = document.getElementById("w-when"), t = new Date(Date.now() + 864e5); const pad = (n) => String(n).padStart(2, "0");
		at.value = t.getFullYear() + "-" + pad(t.getMonth() + 1) + "-" + pad(t.getDate()) + "T10:30"; at.dispatchEvent(new Event("input", { bubbles: true })); return true; })()`)
	b.until("the button has the label Schedule", `document.getElementById("w-go").textContent === "Schedule"`)
	b.click("#w-go")
	b.until("the post is scheduled", `document.querySelector(".note, .undo")?.textContent.includes("Scheduled for ")`)
	b.holds("for 10:30 in Kathmandu", `document.querySelector(".mineposts time").dateTime.endsWith("T04:45:00.000Z")`)
	b.click(".mineposts .words")
	b.until("its page shows the same time", `document.getElementById("w-when").value.endsWith("T10:30")`)
	b.click("[value=now]")
	b.until("it is published now", `document.querySelector(".undo")`)
}

func TestEditConflictShowsBothVersions(t *testing.T) {
	t.Parallel()
	_, b := newWriter(t)
	b.expect("409")
	b.keys("Before")
	b.awaitDraftStatus("Saved")
	b.until("the draft has a URL", `location.pathname === "/write/1"`)
	other := newTab(t, b.base)
	other.expect("409")
	other.signIn("/write/1")
	b.keys(" and mine")
	b.awaitDraftStatus("Saved")
	other.until("it is there", `document.getElementById("w-source").value.startsWith("Before")`)
	other.fill("#w-source", "From the other tab")
	other.awaitDraftStatus("changed elsewhere")
	other.holds("the typed text is still in the form", `document.getElementById("w-source").value === "From the other tab"`)
	other.click("#w-state button")
	other.until("both are shown", `document.querySelector(".theirs")?.textContent.includes("Before and mine") && document.getElementById("w-source").value.trim() === "From the other tab"`)
	other.click(`#write [value=draft]`)
	other.until("the own version is stored", `/did=kept/.test(location.search) && document.getElementById("w-source").value.trim() === "From the other tab"`)
	b.keys(" again")
	b.awaitDraftStatus("changed elsewhere")
	b.click("#w-state button")
	b.until("both are shown here too", `document.querySelector(".theirs")?.textContent.includes("From the other tab")`)
	b.click(".theirs [value=theirs]")
	b.until("the other version is in the form", `/did=theirs/.test(location.search) && document.getElementById("w-source").value.trim() === "From the other tab"`)
}

func TestTypedTextSurvivesAReload(t *testing.T) {
	t.Parallel()
	_, b := newWriter(t)
	b.keys("Typed and loaded again at once")
	b.do("reload", chromedp.Reload())
	b.until("it is there", `document.getElementById("w-source").value.trim() === "Typed and loaded again at once"`)
	b.until("there is only one draft", `location.pathname === "/write/1"`)
	b.do("reload", chromedp.Reload())
	b.until("the server returns the text", `document.getElementById("w-source").value.trim() === "Typed and loaded again at once"`)
	b.open("/write")
	b.until("a new form is empty", `document.getElementById("w-source").value === "" && document.getElementById("kept").hidden`)
}

func TestTypedTextSurvivesANetworkFailure(t *testing.T) {
	t.Parallel()
	p := start(t, conf(t))
	w := newProxy(t)
	w.connect(p.base)
	b := newTab(t, w.url())
	b.join(p.admin)
	for _, part := range []string{"ERR_EMPTY_RESPONSE", "ERR_CONNECTION", "ERR_SOCKET", "Failed to load"} {
		b.expect(part)
	}
	w.connect("")
	b.keys("Far from everything")
	b.awaitDraftStatus("Not saved on the server: no connection. Your text is stored in this browser.")
	b.click("#w-go")
	b.awaitDraftStatus("Nothing was done: no connection")
	b.holds("it is in the form", `document.getElementById("w-source").value === "Far from everything"`)
	w.connect(p.base)
	b.click("#w-source")
	b.ctrl(kb.End)
	b.keys(" again")
	b.awaitDraftStatus("Saved")
	b.click("#w-go")
	b.until("it is published", `document.querySelector(".undo")`)
	b.holds("the browser no longer stores it", `Object.keys(localStorage).filter((k) => k.startsWith("write:")).length === 0`)
}

func TestExpiredSessionIsResumedWithoutLosingText(t *testing.T) {
	t.Parallel()
	_, b := newWriter(t)
	b.expect("401")
	b.keys("Half a thought")
	b.awaitDraftStatus("Saved")
	eval[bool](b, `fetch("/logout", {method: "POST"}).then((r) => r.ok)`)
	b.keys(", and the other half")
	b.awaitDraftStatus("signed out")
	b.click("#w-go")
	b.until("the page asks for the password", `document.getElementById("w-password") && document.getElementById("w-source").value.trim() === "Half a thought, and the other half"`)
	b.fill("#w-name", "alice")
	b.fill("#w-password", aPassword)
	b.click(`.beside [value=preview]`)
	b.until("the work continues", `document.querySelector(".note")?.textContent.includes("your text is complete") && document.getElementById("w-source").value.trim() === "Half a thought, and the other half"`)
	b.click("#w-go")
	b.until("it is published", `document.querySelector(".undo")`)
}

func TestPostIsWrittenAndPublishedWithoutScripts(t *testing.T) {
	t.Parallel()
	p, b := newWriter(t)
	command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.open("/write")
	b.click(`label[for="ask-title"]`)
	b.fill("#w-title", "No scripts")
	b.click("#w-source")
	b.keys("Only *forms*")
	b.click(`label[for="ask-when"]`)
	b.holds("its clock is named", `/UTC/.test(document.getElementById("w-zone").textContent)`)
	b.click("#w-look")
	b.until("the preview is shown", `document.querySelector("#look em")?.textContent === "forms" && document.getElementById("w-title").value === "No scripts"`)
	b.click("[value=draft]:not(.sr)")
	b.until("the draft is saved", `location.pathname === "/write/1" && document.querySelector(".note").textContent.includes("saved")`)
	b.click("#w-go")
	b.until("it is published", `document.querySelector(".undo")`)
	if doc := get(t, p.base+"/alice/rss.xml"); !strings.Contains(doc, "No scripts") {
		t.Errorf("the feed is %s", doc)
	}
	b.open("/write/1")
	b.click(".rest summary")
	b.click(".harm")
	b.until("it is deleted", `document.querySelector(".undo")?.textContent.includes("Deleted")`)
	b.click(".undo button")
	b.until("it is back", `document.getElementById("w-title")?.value === "No scripts"`)
}

// serving is the program in a separate process, which the test can kill.
type serving struct {
	*program.Process
	t        *testing.T
	bin, dir string
	listen   string
}

func (s *serving) start() {
	s.t.Helper()
	var err error
	s.Process, err = program.Start(context.WithoutCancel(s.t.Context()), program.Command{Binary: s.bin, Dir: s.dir, Args: []string{"--listen", s.listen}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.listen = strings.TrimPrefix(s.Base, "http://")
}

func newServing(t *testing.T) *serving {
	t.Helper()
	var built program.Builds
	t.Cleanup(func() { _ = built.Remove() }) // the folder is temporary, so an error has no consequence
	bin, err := built.Build(t.Context(), program.Real)
	if err != nil {
		t.Fatal(err)
	}
	s := &serving{t: t, bin: bin, dir: t.TempDir(), listen: "127.0.0.1:0"}
	s.start()
	t.Cleanup(func() { s.Kill() })
	return s
}

func TestDraftSurvivesCrashesOfServerAndBrowser(t *testing.T) {
	t.Parallel()
	path := fulltest.Chromium(t)
	s := newServing(t)
	dir := t.TempDir()
	browse := func() (*tab, func()) {
		t.Helper()
		options := append(chromedp.DefaultExecAllocatorOptions[:len(chromedp.DefaultExecAllocatorOptions):len(chromedp.DefaultExecAllocatorOptions)],
			chromedp.ExecPath(path), chromedp.DisableGPU, chromedp.UserDataDir(dir), chromedp.WSURLReadTimeout(2*time.Minute), chromedp.NoSandbox)
		all, stopAll := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, stop := chromedp.NewContext(all)
		b := &tab{t: t, ctx: ctx, base: s.Base}
		if err := chromedp.Listen(ctx, b.receive); err != nil { // the first call in this context creates the window, which exists until the context ends
			t.Fatal(err)
		}
		return b, func() { stop(); stopAll() }
	}
	b, end := browse()
	defer func() { end() }()
	b.join(s.Admin)
	b.keys("Saved once")
	b.awaitDraftStatus("Saved")
	s.Kill()
	b.keys(", and typed while the server was dead")
	b.awaitDraftStatus("Not saved on the server: no connection. Your text is stored in this browser.")
	s.start()
	b.keys(".")
	b.awaitDraftStatus("Saved")
	b.open("/write/1")
	b.until("all of it is on the server", `document.getElementById("w-source").value.trim() === "Saved once, and typed while the server was dead."`)

	// The test kills the browser and the server. The browser writes its storage to disk from time
	// to time, so text that it has not sent within two seconds can be lost. Text that the server
	// has saved must not be lost.
	b.click("#w-source")
	b.ctrl(kb.End)
	b.keys(" Only here")
	b.awaitDraftStatus("Saved")
	s.Kill()
	end() // this kills the browser
	s.start()
	b, end = browse()
	b.open("/write/1")
	if eval[bool](b, `location.pathname === "/login"`) { // the killed browser may have lost its cookies
		b.signIn("/write/1")
	}
	b.until("it is there", `document.getElementById("w-source").value.includes("Only here")`)
}
