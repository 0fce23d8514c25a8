// Package doctest executes the documentation: it runs the commands, sends the HTTP exchanges
// and responds as their other side, parses the data, and checks that all named commands,
// settings, files and headings exist. It contains only tests: see TestCommandsInTheDocumentationRun,
// and block for the kinds of blocks.
package doctest
