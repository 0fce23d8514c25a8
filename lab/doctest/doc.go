// Package doctest executes the documentation. It runs the commands, sends the documented HTTP
// requests, answers requests of the server with the documented responses, and parses the data. It
// also checks that all named commands, settings, files and headings exist. The package contains
// only tests. Start with TestCommandsInTheDocumentationRun; type block describes the kinds of
// blocks.
package doctest
