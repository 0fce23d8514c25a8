// Package doctor checks a publisher's set-up from outside.
package doctor
