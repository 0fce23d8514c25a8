// Package doctest runs the commands of the guides, as a reader would who copies them one
// after the other. It has tests only: see TestTheGuidesDoWhatTheySay.
package doctest
