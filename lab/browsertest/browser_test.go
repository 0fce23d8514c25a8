package browsertest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"cloudburst/internal/fulltest"
)

// waitTimeout is the timeout for each wait. It is long because tests that run at the same time
// can slow the browser down.
const waitTimeout = 2 * time.Minute

func TestMain(m *testing.M) {
	code := m.Run()
	if chromium.stop != nil {
		chromium.stop()
	}
	os.Exit(code)
}

// chromium is the browser for all tests of the package. The first test that needs the browser
// starts it.
var chromium struct {
	sync.Once
	ctx  context.Context
	stop func()
	err  error
}

func startChromium(path string) {
	b := &chromium
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.DisableGPU, chromedp.WSURLReadTimeout(2*time.Minute),
		chromedp.Flag("mute-audio", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-quic", true),
		chromedp.Flag("lang", "en-GB"), chromedp.WindowSize(1280, 900))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, stopAll := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(ctx)
	b.ctx, b.stop = ctx, func() { stop(); stopAll() }
	b.err = chromedp.Do(ctx)
}

// tab is a window of the browser with its own cookies. An unexpected error on its pages fails the
// test.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string // base URL of the program, without a trailing slash

	mu       sync.Mutex
	faults   []string
	expected []string // parts of errors that the test provokes
}

// watching is a script that runs before all scripts of a page. It reports violations of the
// page's content security policy as errors.
const watching = `addEventListener("securitypolicyviolation", (e) => console.error("refused by the policy:", e.effectiveDirective, e.blockedURI, e.sample, e.sourceFile));`

func newTab(t *testing.T, base string) *tab {
	t.Helper()
	path := fulltest.Chromium(t)
	chromium.Do(func() { startChromium(path) })
	if chromium.err != nil {
		t.Fatal(chromium.err)
	}
	return openTab(t, base, chromium.ctx, chromedp.WithNewBrowserContext())
}

// another opens another window with the cookies and connections of b.
func (b *tab) another() *tab {
	b.t.Helper()
	return openTab(b.t, b.base, b.ctx)
}

func openTab(t *testing.T, base string, parent context.Context, options ...chromedp.ContextOption) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(parent, options...)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx, base: base}
	// The first call in this context creates the window, which exists until the context ends.
	if err := chromedp.Listen(ctx, b.receive); err != nil {
		t.Fatal(err)
	}
	b.size(1280, 900)
	command(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	command(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watching})
	t.Cleanup(b.complain)
	return b
}

// receive records the errors and dialogs of the window as faults.
func (b *tab) receive(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type != runtime.ConsoleAPICalledTypeError && e.Type != runtime.ConsoleAPICalledTypeAssert {
			return
		}
		words := []string{"console:"}
		for _, a := range e.Args {
			words = append(words, strings.Trim(string(a.Value), `"`)+a.Description)
		}
		b.fault(strings.Join(words, " "))
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
		b.fault("script: " + text)
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.EntryLevelError || e.Entry.Source == cdplog.EntrySourceSecurity {
			b.fault(fmt.Sprintf("browser: %s: %s (%s)", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *page.EventJavascriptDialogOpening:
		b.fault("dialog: " + e.Message)
	}
}

func (b *tab) fault(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(b.faults, text) && len(b.faults) < 100 {
		b.faults = append(b.faults, text)
	}
}

// expect ignores errors of the window that contain part, because the test provokes them.
func (b *tab) expect(part string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = append(b.expected, part)
}

// complain fails the test with all unexpected errors of the window.
func (b *tab) complain() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults {
		if !slices.ContainsFunc(b.expected, func(part string) bool { return strings.Contains(f, part) }) {
			b.t.Errorf("the browser reports: %s", f)
		}
	}
	b.faults = nil
}

// run executes an action in a window and returns its result. It fails the test after an error or
// a timeout.
func run[T any](b *tab, what string, a chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, waitTimeout)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		b.fatal(fmt.Sprintf("%s: %v", what, err))
	}
	return v
}

// command sends a command of the DevTools protocol to the window, and returns the result.
func command[P, R any](b *tab, c cdp.Command[P, R], params P) R {
	b.t.Helper()
	return run(b, c.Method, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, c, params) })
}

func (b *tab) do(what string, a chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	run(b, what, a)
}

// fatal ends the test, and logs the text of the page.
func (b *tab) fatal(text string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	seen, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + (document.body?.innerText ?? "").slice(0, 800)`))
	if err != nil {
		seen = err.Error()
	}
	b.complain()
	b.t.Fatalf("%s\nThe page is %s", text, seen)
}

// open loads a page with all its resources.
func (b *tab) open(path string) {
	b.t.Helper()
	if strings.HasPrefix(path, "/") {
		path = b.base + path
	}
	b.do("open "+path, chromedp.Navigate(path))
}

// eval returns the value of a JavaScript expression on the page. If the value is a promise, eval
// awaits its result.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	return run(b, expression, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// until waits until the page is loaded and a JavaScript expression is true.
func (b *tab) until(what, expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, waitTimeout)
	defer cancel()
	tick := time.NewTicker(15 * time.Millisecond)
	defer tick.Stop()
	for last := error(nil); ; {
		yes, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.readyState === "complete" && !!(`+expression+")"))
		if yes {
			return
		}
		if err != nil && ctx.Err() == nil {
			last = err // the browser may be loading another page
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			b.fatal(fmt.Sprintf("timeout waiting for: %s (%s): %v", what, expression, last))
		}
	}
}

// holds fails the test unless a JavaScript expression is true now.
func (b *tab) holds(what, expression string) {
	b.t.Helper()
	if !eval[bool](b, "!!("+expression+")") {
		b.t.Errorf("not true: %s (%s)", what, expression)
	}
}

// click clicks with the mouse on the first element that matches selector.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.do("click "+selector, chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// fill types text into a field.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	b.do("fill in "+selector, chromedp.Steps(chromedp.Clear(chromedp.CSS(selector)), chromedp.SendKeys(chromedp.CSS(selector), text, chromedp.NodeVisible)))
}

// keys presses keys in sequence. The text of a key is sent with its keydown event, so that the
// page can prevent the text.
func (b *tab) keys(keys string) {
	b.t.Helper()
	for _, r := range keys {
		events := kb.Encode(r)
		if len(events) == 3 && events[1].Type == kb.KeyChar {
			events[0].Text, events[0].UnmodifiedText = events[1].Text, events[1].UnmodifiedText
			events = []*input.DispatchKeyEventParams{events[0], events[2]}
		}
		for _, e := range events {
			command(b, input.DispatchKeyEvent, *e)
		}
	}
}

// texts returns the texts of all elements that match selector.
func (b *tab) texts(selector string) []string {
	b.t.Helper()
	return eval[[]string](b, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => e.textContent.trim().replace(/\s+/g, " "))`, selector))
}

// size sets the size of the window in pixels. A width below 600 emulates a phone.
func (b *tab) size(width, height int64) {
	b.t.Helper()
	how := []chromedp.EmulateViewportOption{}
	if width < 600 {
		how = append(how, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	b.do("size the window", chromedp.EmulateViewport(width, height, how...))
}
