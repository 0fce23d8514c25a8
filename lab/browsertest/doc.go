// Package browsertest drives the pages of the real program with a real browser.
//
// The tests start the program inside the test process, on port 0 with a temporary folder. The
// program reads feeds of a test server. The tests use it in Chromium as people do: they follow
// feeds, read, search, mark items, and listen. One browser serves all tests of the package; each
// test has its own window and cookies. Problems that the browser reports (script errors, policy
// violations, failed requests, dialogs) fail the test, unless the test expects the problem.
//
// The tests need Debian's package chromium-headless-shell, which packaging/setup-tests.sh
// installs, or the package chromium. If CLOUDBURST_SCREENSHOTS names a folder, or with
// go test -artifacts, the tour of the pages writes screenshots. It writes each page narrow and wide,
// light and dark.
package browsertest
