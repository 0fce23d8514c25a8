// Package browsertest drives the pages of the real program with a real browser.
//
// Its tests start the program as a value, on port 0 and a folder of its own, let it
// read feeds of a server in the test, and do in Chromium what people do: follow, read,
// search, mark, listen. One browser serves all tests of the package; each has a window
// and cookies of its own. Whatever the browser complains of (errors of scripts, what
// the policy of a page forbids, answers that are none, dialogs) fails the test, unless
// the test said before that it would provoke it.
//
// The tests need Debian's chromium, which packaging/setup-tests.sh installs. With
// CLOUDBURST_SCREENSHOTS=FOLDER, or go test -artifacts, the tour of the pages leaves
// a picture of each, as a phone and a desk have it, in both lights.
package browsertest
