// Package doctest does what the documentation says, as a reader would who copies it: it runs
// the commands, sends the exchanges of HTTP and plays their other side, reads the data, and
// looks whether the commands, settings, files and headings that are named are there. It has
// tests only: see TestTheGuidesDoWhatTheySay, and block for what a page says of its blocks.
package doctest
