// Package powertest simulates power cuts and disk failures for the real program.
package powertest
