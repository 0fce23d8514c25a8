// Package browsertest drives the pages of the real program with a real browser.
//
// The tests start the program inside the test process, on port 0 with a temporary folder, let
// it read feeds of a test server, and use it in Chromium as people do: follow, read, search,
// mark, listen. One browser serves all tests of the package; each test has its own window and
// cookies. Problems that the browser reports (script errors, policy violations, failed
// requests, dialogs) fail the test, unless the test expects them.
//
// The tests need Debian's chromium, which packaging/setup-tests.sh installs. With
// CLOUDBURST_SCREENSHOTS=FOLDER, or go test -artifacts, the tour of the pages writes a
// screenshot of each, narrow and wide, light and dark.
package browsertest
