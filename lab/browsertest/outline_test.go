package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"

	"cloudburst/client"
)

const writerPassword = "correct horse battery"

// author creates an account in the program, and returns a window in which its user is signed in.
func (p *running) author(t *testing.T, name string) *tab {
	t.Helper()
	if _, err := (&client.Client{Base: p.admin}).AddUser(t.Context(), name, writerPassword); err != nil {
		t.Fatal(err)
	}
	return p.signIn(t, name)
}

func (p *running) signIn(t *testing.T, name string) *tab {
	t.Helper()
	b := newTab(t, p.base)
	b.open("/login")
	b.fill("#c-name", name)
	b.fill("#c-password", writerPassword)
	b.click("form[action='/login'] button")
	b.until("he is signed in", `location.pathname !== "/login"`)
	return b
}

// openOutliner opens the outliner for a new post.
func (b *tab) openOutliner() {
	b.t.Helper()
	b.click(`label[for="ask-outline"]`)
	b.until("it begins with a headline", `document.activeElement.matches(".outline textarea")`)
}

// chord presses a key together with modifier keys. held is a bit mask of the modifiers.
func (b *tab) chord(held int64, key string) {
	b.t.Helper()
	codes := map[string]struct {
		code string
		vk   int64
	}{
		"Tab": {"Tab", 9}, "ArrowUp": {"ArrowUp", 38}, "ArrowDown": {"ArrowDown", 40}, "Backspace": {"Backspace", 8}, ".": {"Period", 190}, ",": {"Comma", 188},
		"z": {"KeyZ", 90}, "y": {"KeyY", 89}, "Home": {"Home", 36}, "End": {"End", 35},
	}
	c := codes[key]
	for _, kind := range []input.DispatchKeyEventType{"rawKeyDown", "keyUp"} {
		command(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Modifiers: held, Key: key, Code: c.code, WindowsVirtualKeyCode: c.vk, NativeVirtualKeyCode: c.vk})
	}
}

// outlineNow is an expression that returns the outline on the page as one line, such as "a(b
// c!(d))". The character ! marks a folded headline, and | is the caret.
const outlineNow = `(() => {
	const f = (nodes, own) => nodes.map((n) => own(n)).join(" ");
	const line = (li) => { const t = li.children[0].children[1], ul = li.lastElementChild; let s = t.value;
		if (t === document.activeElement) s = s.slice(0, t.selectionStart) + "|" + s.slice(t.selectionStart);
		return s + (ul.hidden ? "!" : "") + (ul.children.length ? "(" + f([...ul.children], line) + ")" : ""); };
	const node = (n) => n.text + (n.folded ? "!" : "") + (n.nodes ? "(" + f(n.nodes, node) + ")" : "");
	const shown = f([...document.querySelector(".outline").children], line), field = document.querySelector("[name=outline]").value;
	const kept = field ? f(JSON.parse(field), node) : "";
	return shown.replace("|", "") === kept ? shown : shown + " but the field has " + kept;
})()`

func (b *tab) outline(after, want string) {
	b.t.Helper()
	got := eval[string](b, fmt.Sprintf(`new Promise((done) => {
		const end = Date.now() + 10000;
		const look = () => { const now = %s; if (now === %q || Date.now() > end) done(now); else setTimeout(look, 15); };
		look();
	})`, outlineNow, want))
	if got != want {
		b.t.Fatalf("after %s it is\n%s, not\n%s", after, got, want)
	}
}

func TestOutlinerKeysMoveIndentAndFoldHeadlines(t *testing.T) {
	t.Parallel()
	p := start(t, conf(t))
	b := p.author(t, "alice")
	b.open("/write")
	b.openOutliner()
	const alt, ctrl, meta, shift = 1, 2, 4, 8
	key := func(k string) func() { return func() { b.keys(k) } }
	chord := func(m int64, k string) func() { return func() { b.chord(m, k) } }
	for _, s := range []struct {
		name string
		do   func()
		want string
	}{
		{"typing", key("one"), "one|"},
		{"Enter", key(kb.Enter + "two"), "one two|"},
		{"Enter again", key(kb.Enter + "three"), "one two three|"},
		{"Tab", key(kb.Tab), "one two(three|)"},
		{"Tab, where there is nothing to go below", key(kb.Tab), "one two(three|)"},
		{"Up", key(kb.ArrowUp), "one two|(three)"},
		{"Tab with what is below", key(kb.Tab), "one(two|(three))"},
		{"Shift+Tab", chord(shift, "Tab"), "one two|(three)"},
		{"Enter at the end of what has something below", key(kb.Enter + "x"), "one two(x| three)"},
		{"Ctrl+Down", chord(ctrl, "ArrowDown"), "one two(three x|)"},
		{"Alt+Up", chord(alt, "ArrowUp"), "one two(x| three)"},
		{"Cmd+Down", chord(meta, "ArrowDown"), "one two(three x|)"},
		{"Home and Backspace join", key(kb.Home + kb.Backspace), "one two(three|x)"},
		{"Ctrl+Z", chord(ctrl, "z"), "one two(three |x)"},
		{"Ctrl+Shift+Z", chord(ctrl|shift, "z"), "one two(three|x)"},
		{"Ctrl+Z again", chord(ctrl, "z"), "one two(three |x)"},
		{"Up at the same place", key(kb.End + kb.ArrowUp), "one two(t|hree x)"},
		{"Enter splits", key(kb.Enter), "one two(t |hree x)"},
		{"Enter at the beginning", key(kb.Enter), "one two(t  |hree x)"},
		{"Backspace takes the empty one", key(kb.Backspace), "one two(t |hree x)"},
		{"Backspace joins what was split", key(kb.Backspace), "one two(t|hree x)"},
		{"Ctrl+Home", chord(ctrl, "Home"), "|one two(three x)"},
		{"Ctrl+End", chord(ctrl, "End"), "one two(three x|)"},
		{"Ctrl+Home and Down", func() { b.chord(ctrl, "Home"); b.keys(kb.ArrowDown) }, "one |two(three x)"},
		{"Ctrl+.", chord(ctrl, "."), "one |two!(three x)"},
		{"Down, where nothing more is to be seen", key(kb.ArrowDown), "one |two!(three x)"},
		{"Enter behind what is folded", key(kb.End + kb.Enter + "next"), "one two!(three x) next|"},
		{"Up over what is folded", key(kb.ArrowUp), "one two|!(three x) next"},
		{"Cmd+,", chord(meta, ","), "one two|(three x) next"},
		{"Ctrl+Up with what is below", chord(ctrl, "ArrowUp"), "two|(three x) one next"},
		{"Ctrl+Shift+Backspace", chord(ctrl|shift, "Backspace"), "one| next"},
		{"Ctrl+Z brings it back", chord(ctrl, "z"), "two|(three x) one next"},
		{"Delete at the end joins", key(kb.Delete), "two|three(x) one next"},
		{"Ctrl+Z and Ctrl+Y and Ctrl+Z", func() { b.chord(ctrl, "z"); b.chord(ctrl, "y"); b.chord(ctrl, "z") }, "two|(three x) one next"},
	} {
		s.do()
		b.outline(s.name, s.want)
	}
	b.keys(kb.Escape + kb.Tab)
	b.until("Escape and Tab leave the outline", `!document.activeElement.closest(".outline")`)
}

func TestOutlinerAcceptsPastedDraggedAndOpenedOutlines(t *testing.T) {
	t.Parallel()
	p := start(t, conf(t))
	b := p.author(t, "alice")
	b.open("/write")
	b.openOutliner()
	b.keys("first" + kb.Enter)
	b.outline("typing", "first |")
	paste := func(text string) {
		eval[bool](b, fmt.Sprintf(`(() => { const d = new DataTransfer(); d.setData("text/plain", %q); document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: d, bubbles: true, cancelable: true })); return true; })()`, text))
	}
	paste("a\n\tb\n\t\tc\n\td\n\ne")
	b.outline("lines with tabs", "first a(b(c) d) e|")
	b.keys(kb.Enter)
	paste("- f\n    - g\n    - h\r\n- i")
	b.outline("a list of Markdown", "first a(b(c) d) e f(g h) i|")
	paste(`<?xml version="1.0"?><opml version="2.0"><head><title>Plans of mine</title></head><body><outline text="plan &lt;b&gt;A&lt;/b&gt;"><outline text="step" _state="done" xmlUrl="https://a.example/f"/></outline></body></opml>`)
	b.outline("an outline", "first a(b(c) d) e f(g h) i plan <b>A</b>|(step)")
	b.holds("its title is the post's", `document.querySelector("[name=title]").value === "Plans of mine"`)
	b.holds("other attributes of headlines are preserved", `/"name":"_state","value":"done"/.test(document.querySelector("[name=outline]").value)`)
	eval[bool](b, `(() => {
		const at = (words) => [...document.querySelectorAll(".outline textarea")].find((t) => t.value === words);
		const d = new DataTransfer(), send = (el, type, y = 0) => el.dispatchEvent(new DragEvent(type, { dataTransfer: d, bubbles: true, cancelable: true, clientY: y }));
		const from = at("f").previousElementSibling, to = at("d"), box = to.getBoundingClientRect();
		return send(from, "dragstart"), send(to, "dragover", box.top), send(to, "drop", box.top), send(from, "dragend"), true;
	})()`)
	b.outline("dragging", "first a(b(c) f|(g h) d) e i plan <b>A</b>(step)")
	for _, name := range []string{"Outdent", "Down", "Up", "Indent", "Undo", "Redo"} {
		b.click(fmt.Sprintf("[data-do=%s]", strings.ToLower(name)))
	}
	b.outline("buttons", "first a(b(c) d f|(g h)) e i plan <b>A</b>(step)")
	if got := b.texts("#outline-text"); len(got) != 1 || !eval[bool](b, `document.getElementById("outline-text").disabled`) {
		t.Errorf("the plain field is still in use: %q", got)
	}
}
